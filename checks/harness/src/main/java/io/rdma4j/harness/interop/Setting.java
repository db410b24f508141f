package io.rdma4j.harness.interop;

import io.rdma4j.harness.Guest;
import io.rdma4j.harness.GuestKernel;
import io.rdma4j.harness.Launcher;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The options of a run that its cases depend on.
 *
 * @param home the checkout
 * @param kernel the kernel of the guest
 * @param mtu the MTU of the link to the guest
 * @param isPeerC true if a second guest takes the place of Java
 * @param warmsUp true if Java's measuring tools warm up
 * @param inside the programs of the side INSIDE, in a guest with memory for Java; null in a run without that side
 */
record Setting(
        Path home,
        GuestKernel kernel,
        int mtu,
        boolean isPeerC,
        boolean warmsUp,
        @Nullable Inside inside) {
    /**
     * The programs of the side INSIDE.
     *
     * @param isC true for C
     * @param environment variables of Java, such as {@code LC_ALL=C.UTF-8}
     */
    record Inside(boolean isC, List<String> environment) {}

    /** Returns the launcher of the checkout. */
    Launcher launcher() {
        return new Launcher(home);
    }

    /** Returns whether the programs in the guest are the newer ones of Debian 13. */
    boolean isDebian13() {
        return kernel.layer() != null;
    }

    boolean isC(Side side) {
        return switch (side) {
            case LINUX -> true;
            case HOST -> isPeerC;
            case INSIDE -> inside != null && inside.isC();
            case EXEC, NEAR, FAR -> false;
        };
    }

    boolean isInGuest(Side side) {
        return side == Side.INSIDE || isC(side);
    }

    /** Returns the word for a side in the table. Beside Java on the kernel's devices, that on the software device is "soft". */
    String who(Side side) {
        if (side == Side.EXEC) {
            return "exec";
        }
        if (isC(side)) {
            return "C";
        }
        return side == Side.HOST && inside != null ? "soft" : "Java";
    }

    String who(Roles roles) {
        return who(roles.client()) + "->" + who(roles.server());
    }

    /** Returns the time that a server may take until it listens. Java in an emulated guest takes long. */
    Duration startLimit() {
        return Duration.ofSeconds(inside == null ? 20 : 100);
    }

    /** Returns the pause between two looks into the guest, which take processor time from Java there. */
    Duration pause() {
        return Duration.ofMillis(inside == null ? 100 : 1000);
    }

    int mebibytes() {
        return inside == null ? Guest.MEBIBYTES : Guest.MEBIBYTES_FOR_JAVA;
    }
}

package io.rdma4j.harness.interop;

import static io.rdma4j.harness.Case.Extent.QUICK;

import io.rdma4j.harness.CaseFailure;
import io.rdma4j.harness.RunningProcess;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;

/** Java without native access of its providers in the guest, where the kernel's rxe0 has the address and UDP port 4791. */
final class KernelPortCases {
    private static final Roles IN_GUEST = new Roles(Side.INSIDE, Side.INSIDE);

    private KernelPortCases() {}

    static void define(InteropCases cases) {
        cases.add("rxe-holds-port", IN_GUEST, "explained, exit 255", QUICK, 60, KernelPortCases::portIsHeld);
        cases.add("rxe-has-address", IN_GUEST, "explained, exit 255", QUICK, 60, KernelPortCases::addressIsOfDevice);
    }

    private static RunningProcess serve(InteropStage stage, String... variables)
            throws CaseFailure, IOException, InterruptedException {
        List<String> words = new ArrayList<>(List.of("env"));
        words.addAll(List.of(variables));
        words.addAll(List.of(stage.world.programs.jdk("java"), "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1"));
        words.addAll(List.of("--enable-native-access=io.rdma4j.link"));
        words.addAll(List.of("--module-path", stage.world.programs.modulePath()));
        words.addAll(List.of("--module", "io.rdma4j.tools/io.rdma4j.tools.Main"));
        words.addAll(List.of("rping", "-s", "-a", World.GUEST.ip4()));
        return stage.startCommand("server", stage.server, words).requireStatus(255);
    }

    /** The error message says that the kernel has the port, and what to do. */
    private static void portIsHeld(InteropStage stage) throws CaseFailure, IOException, InterruptedException {
        serve(stage, "RDMA4J_DEVICE=soft")
                .requireComplains("^rdma_bind_addr: Address already in use$")
                .requireComplains("UDP port 4791 of 10\\.88\\.0\\.2 is held by .*EADDRINUSE.*rmmod rdma_rxe");
    }

    /** The software device does not take the address of a device of this machine, which the error message names. */
    private static void addressIsOfDevice(InteropStage stage) throws CaseFailure, IOException, InterruptedException {
        serve(stage)
                .requireComplains("^rdma_bind_addr: No such device$")
                .requireComplains(
                        "10\\.88\\.0\\.2 belongs to rxe0, which this process cannot use: .*--enable-native-access");
    }
}

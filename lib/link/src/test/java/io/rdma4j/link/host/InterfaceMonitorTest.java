package io.rdma4j.link.host;

import static java.util.concurrent.TimeUnit.SECONDS;
import static org.assertj.core.api.Assertions.assertThat;

import io.rdma4j.link.ChildJava;
import io.rdma4j.link.system.LinkSets;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;

@Timeout(60)
@EnabledOnOs(OS.LINUX)
class InterfaceMonitorTest {
    private static final long LONG_NANOS = SECONDS.toNanos(30);
    private static final long QUIET_NANOS = SECONDS.toNanos(1) / 10;

    /** Runs in a separate network namespace, changes its interfaces, and prints which changes were reported. */
    static final class Main {
        /** More changes than the netlink socket can queue. */
        private static final int CHANGES = 3000;

        private Main() {}

        public static void main(String[] args) throws IOException, InterruptedException {
            try (InterfaceMonitor monitor = LinkSets.openInterfaceMonitor()) {
                if (monitor == null || run("ip link set lo up") != 0) {
                    System.out.println("not available");
                    return;
                }
                report("up", monitor);
                run("ip addr add 192.0.2.1/32 dev lo");
                report("address", monitor);
                String batch = String.join(
                        "\n",
                        IntStream.range(0, CHANGES)
                                .mapToObj(i -> "addr add 10.1." + i / 250 + "." + i % 250 + "/32 dev lo")
                                .toList());
                Process ip = new ProcessBuilder("ip", "-batch", "-").start();
                ip.getOutputStream().write(batch.getBytes(StandardCharsets.UTF_8));
                ip.getOutputStream().close();
                ip.waitFor();
                report("many", monitor);
            }
        }

        /**
         * Prints whether a change is reported. Then waits until none is pending, which never happens if they are
         * not drained.
         */
        private static void report(String name, InterfaceMonitor monitor) {
            boolean changed = monitor.await(LONG_NANOS);
            System.out.println(name + " " + changed);
            boolean pending;
            do {
                pending = monitor.await(QUIET_NANOS);
            } while (pending);
        }

        private static int run(String command) throws IOException, InterruptedException {
            return new ProcessBuilder(command.split(" ", -1)).start().waitFor();
        }
    }

    @Test
    void changesAndAnOverflowAreReported() throws Exception {
        List<String> reported =
                ChildJava.run(List.of("unshare", "-rn"), List.of("--enable-native-access=ALL-UNNAMED"), Main.class);
        Assumptions.assumeTrue(reported.getFirst().startsWith("up"), reported.toString());
        assertThat(reported).containsExactly("up true", "address true", "many true");
    }

    @Test
    void closingEndsACurrentAndAllLaterWaits() throws Exception {
        InterfaceMonitor monitor = LinkSets.openInterfaceMonitor();
        Assumptions.assumeTrue(monitor != null, "no notifications on this system");
        CompletableFuture<Boolean> wait = CompletableFuture.supplyAsync(() -> {
            boolean changed;
            do {
                changed = monitor.await(LONG_NANOS); // another process may change the interfaces of this machine
            } while (changed);
            return changed;
        });
        Thread.sleep(50); // correct also if the wait starts after the close
        monitor.close();
        assertThat(wait.get(30, SECONDS)).isFalse();
        monitor.close();
        assertThat(monitor.await(LONG_NANOS)).isFalse();
    }

    @Test
    void nioHasNoNotifications() {
        String before = System.setProperty(LinkSets.KIND_PROPERTY, "nio");
        try {
            assertThat(LinkSets.openInterfaceMonitor()).isNull();
        } finally {
            if (before == null) {
                System.clearProperty(LinkSets.KIND_PROPERTY);
            } else {
                System.setProperty(LinkSets.KIND_PROPERTY, before);
            }
        }
    }
}

package io.rdma4j.soft;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.util.List;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;

/** What a process learns of its network interface, in a network namespace of its own. */
@Timeout(60)
@EnabledOnOs(OS.LINUX)
class InterfaceEventsTest {
    private static List<String> events(ChildProcess process, int count, String command)
            throws IOException, InterruptedException {
        process.tell(count + " " + command);
        return List.of(process.expect("= "));
    }

    @Test
    void interfaceThatGoesDownUpMovesAndVanishesIsReported() throws IOException, InterruptedException {
        try (ChildProcess process = new ChildProcess(List.of("unshare", "-rn"), InterfaceProcess.class, List.of())) {
            String first = String.join(" ", process.expect(""));
            Assumptions.assumeTrue(first.equals("= ready"), "no network namespace can be made here: " + first);
            assertThat(events(process, 1, "ip addr add 192.0.2.3/24 dev v0")).containsExactly("GID_CHANGE");
            // The second address goes, the identifier's stays.
            assertThat(events(process, 1, "ip addr del 192.0.2.3/24 dev v0")).containsExactly("GID_CHANGE");
            // No IPv6 address comes and goes with the state of the interface.
            assertThat(events(process, 1, "ip addr flush dev v0 scope link")).containsExactly("GID_CHANGE");
            assertThat(events(process, 1, "ip link set v1 down")).containsExactly("PORT_ERROR");
            assertThat(events(process, 1, "ip link set v1 up")).containsExactly("PORT_ACTIVE");
            assertThat(events(process, 1, "ip link set v0 address 02:00:00:00:00:07"))
                    .containsExactly("ADDRESS_CHANGE");
            assertThat(events(process, 2, "ip addr del 192.0.2.2/24 dev v0"))
                    .containsExactly("ADDRESS_CHANGE", "GID_CHANGE");
            assertThat(events(process, 2, "ip link del v0")).containsExactly("DEVICE_FATAL", "DEVICE_REMOVAL");
            assertThat(process.expect("= ")).containsExactly("WORK_REQUEST_FLUSHED_ERROR", "EIO");
        }
    }

    @Test
    void interfaceThatIsDownForAMomentIsReported() throws IOException, InterruptedException {
        try (ChildProcess process = new ChildProcess(List.of("unshare", "-rnm"), InterfaceProcess.class, List.of())) {
            String first = String.join(" ", process.expect(""));
            Assumptions.assumeTrue(first.equals("= ready"), "no network namespace can be made here: " + first);
            // The kernel tells there how often an interface has got its carrier back.
            process.tell("0 mount -t sysfs none /sys");
            String mounted = String.join(" ", process.expect("="));
            Assumptions.assumeFalse(mounted.contains("failed"), "/sys of the namespace cannot be mounted here");
            // The first look at what is mounted now; then what happens to the other end is too short to be seen, or is
            // not.
            assertThat(events(process, 1, "ip addr add 192.0.2.3/24 dev v0")).containsExactly("GID_CHANGE");
            assertThat(events(process, 0, "ip link set v1 down")).containsExactly("");
            assertThat(events(process, 2, "ip link set v1 up")).containsExactly("PORT_ACTIVE", "PORT_ERROR");
        }
    }
}

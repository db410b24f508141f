package io.rdma4j.soft;

import static org.assertj.core.api.Assertions.assertThat;

import io.rdma4j.fixture.ChildProcess;
import java.io.IOException;
import java.util.List;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;

/** The events of a process about its network interface, in a separate network namespace. */
@Timeout(60)
@EnabledOnOs(OS.LINUX)
class InterfaceEventsTest {
    private static List<String> events(ChildProcess process, int count, String command)
            throws IOException, InterruptedException {
        process.send(count + " " + command);
        return List.of(process.expect("= "));
    }

    @Test
    void changesOfAnInterfaceAreReported() throws IOException, InterruptedException {
        try (ChildProcess process = new ChildProcess(List.of("unshare", "-rn"), InterfaceProcess.class, List.of())) {
            String first = String.join(" ", process.expect(""));
            Assumptions.assumeTrue(first.equals("= ready"), "no network namespace can be made here: " + first);
            assertThat(events(process, 1, "ip addr add 192.0.2.3/24 dev v0")).containsExactly("GID_CHANGE");
            // The second address is removed, the identifier's stays.
            assertThat(events(process, 1, "ip addr del 192.0.2.3/24 dev v0")).containsExactly("GID_CHANGE");
            // No IPv6 address is added or removed when the interface goes up or down.
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
    void interfaceThatIsDownBrieflyIsReported() throws IOException, InterruptedException {
        try (ChildProcess process = new ChildProcess(List.of("unshare", "-rnm"), InterfaceProcess.class, List.of())) {
            String first = String.join(" ", process.expect(""));
            Assumptions.assumeTrue(first.equals("= ready"), "no network namespace can be made here: " + first);
            // This directory has the number of times that the carrier of an interface has returned.
            process.send("0 mount -t sysfs none /sys");
            String mounted = String.join(" ", process.expect("="));
            Assumptions.assumeFalse(mounted.contains("failed"), "/sys of the namespace cannot be mounted here");
            // The first scan with /sys mounted. The outage that follows may or may not last until a scan sees it.
            assertThat(events(process, 1, "ip addr add 192.0.2.3/24 dev v0")).containsExactly("GID_CHANGE");
            assertThat(events(process, 0, "ip link set v1 down")).containsExactly("");
            assertThat(events(process, 2, "ip link set v1 up")).containsExactly("PORT_ACTIVE", "PORT_ERROR");
        }
    }
}

package io.rdma4j.soft;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.util.List;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;

/** An interface that is deleted and made again under its name, in a network namespace of its own. */
@Timeout(120)
@EnabledOnOs(OS.LINUX)
class InterfaceReturnsTest {
    private static final int RETURNS = 3;

    @Test
    void newIdentifiersUseTheInterfaceThatWasMadeAgain() throws IOException, InterruptedException {
        try (ChildProcess process =
                new ChildProcess(List.of("unshare", "-rn"), InterfaceReturnsProcess.class, List.of())) {
            String first = String.join(" ", process.expect(""));
            Assumptions.assumeTrue(first.equals("= ready"), "no network namespace can be made here: " + first);
            tell(process, "ip link set lo up");
            for (int i = 0; i <= RETURNS; i++) {
                tell(process, "ip link add v0 type veth peer name v1");
                tell(process, "ip addr add 192.0.2.2/24 dev v0");
                tell(process, "ip link set v1 up");
                tell(process, "ip link set v0 up");
                tell(process, "connect");
                tell(process, "devices");
                tell(process, "ip link del v0");
            }
        }
    }

    private static void tell(ChildProcess process, String line) throws IOException, InterruptedException {
        process.tell(line);
        assertThat(String.join(" ", process.expect("="))).as(line).isEqualTo("done");
    }
}

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

/** An interface that is deleted and created again under the same name, in a separate network namespace. */
@Timeout(120)
@EnabledOnOs(OS.LINUX)
class InterfaceReturnsTest {
    private static final int RETURNS = 3;

    @Test
    void newIdentifiersUseTheInterfaceThatWasCreatedAgain() throws IOException, InterruptedException {
        try (ChildProcess process =
                new ChildProcess(List.of("unshare", "-rn"), InterfaceReturnsProcess.class, List.of())) {
            String first = String.join(" ", process.expect(""));
            Assumptions.assumeTrue(first.equals("= ready"), "no network namespace can be made here: " + first);
            run(process, "ip link set lo up");
            for (int i = 0; i <= RETURNS; i++) {
                run(process, "ip link add v0 type veth peer name v1");
                run(process, "ip addr add 192.0.2.2/24 dev v0");
                run(process, "ip link set v1 up");
                run(process, "ip link set v0 up");
                run(process, "connect");
                run(process, "devices");
                run(process, "ip link del v0");
            }
        }
    }

    private static void run(ChildProcess process, String line) throws IOException, InterruptedException {
        process.send(line);
        assertThat(String.join(" ", process.expect("="))).as(line).isEqualTo("done");
    }
}

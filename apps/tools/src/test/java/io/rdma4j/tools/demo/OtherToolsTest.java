package io.rdma4j.tools.demo;

import static org.assertj.core.api.Assertions.assertThat;

import io.rdma4j.tools.command.ToolEnvironment;
import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.FutureTask;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Tests parts of two concurrent demonstrations. */
@Timeout(240)
class OtherToolsTest {
    private static final Duration LIMIT = Duration.ofMinutes(3);

    private final ByteArrayOutputStream out = new ByteArrayOutputStream();

    private void datagrams() throws DemoFailure, InterruptedException {
        PrintStream lines = new PrintStream(out, true, StandardCharsets.UTF_8);
        DemoOutput output = new DemoOutput(new ToolEnvironment(lines, lines), LIMIT);
        try {
            new OtherTools(output, "::1", 1, false).datagrams(4);
        } finally {
            output.close();
        }
    }

    /** udaddy's port is fixed. Unlike 127.0.0.1, this address cannot be replaced with another loopback address. */
    @Test
    void datagramsOfTwoDemonstrationsOfOneAddressTakeTurns() throws Exception {
        List<FutureTask<Boolean>> demonstrations = new ArrayList<>();
        for (int i = 0; i < 2; i++) {
            FutureTask<Boolean> each = new FutureTask<>(() -> {
                datagrams();
                return true;
            });
            demonstrations.add(each);
            Thread.ofPlatform().daemon().start(each);
        }
        for (FutureTask<Boolean> each : demonstrations) {
            assertThat(each.get()).isTrue();
        }
        assertThat(out.toString(StandardCharsets.UTF_8)).doesNotContain("failed", "UNREACHABLE");
    }
}

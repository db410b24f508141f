package io.rdma4j.tools.command;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import org.junit.jupiter.api.Test;

class ToolEnvironmentTest {
    private final ByteArrayOutputStream out = new ByteArrayOutputStream();
    private final ByteArrayOutputStream err = new ByteArrayOutputStream();
    private final ToolEnvironment environment = new ToolEnvironment(
            new PrintStream(out, true, StandardCharsets.UTF_8), new PrintStream(err, true, StandardCharsets.UTF_8));

    @Test
    void nothingIsPrintedAfterAnInterrupt() {
        environment.out().print("before\n");
        environment.err().print("early\n");
        environment.interrupt();
        environment.out().print("after\n");
        environment.err().print("late\n");
        environment.err().write('x');
        assertThat(out.toString(StandardCharsets.UTF_8)).isEqualTo("before\n");
        assertThat(err.toString(StandardCharsets.UTF_8)).isEqualTo("early\n");
    }

    @Test
    void everyActionRunsAtAnInterruptAlthoughOneFails() {
        int[] runs = new int[1];
        for (int i = 0; i < 3; i++) {
            environment.onInterrupt(() -> {
                runs[0]++;
                throw new IllegalStateException("cannot be closed");
            });
        }
        environment.interrupt();
        assertThat(runs[0]).isEqualTo(3);
        assertThat(err.toString(StandardCharsets.UTF_8)).isEmpty();
    }
}

package io.rdma4j.tools.rping;

import static org.assertj.core.api.Assertions.assertThat;

import io.rdma4j.tools.command.SingleRound;
import io.rdma4j.tools.command.ToolEnvironment;
import io.rdma4j.tools.command.WarmUpChoice;
import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Tests the warm-up of rping, which the user must request. */
@Timeout(60)
class RpingWarmUpTest {
    private static final int FIRST_WORK = 16;

    private final ByteArrayOutputStream errors = new ByteArrayOutputStream();
    private final ToolEnvironment environment =
            new ToolEnvironment(System.out, new PrintStream(errors, true, StandardCharsets.UTF_8));

    @ParameterizedTest
    @ValueSource(strings = {"-c", "-c -v -V -C 1", "-c -S 65535 -V", "-s -P", "-s -q", "-c -d -I 192.0.2.7"})
    void aRoundSucceedsWithTheOptionsOfTheUser(String options) throws Exception {
        List<String> words = List.of((options + " -a 192.0.2.1 -p 1").split(" "));
        SingleRound.requireSuccess(Rping.round(RpingCommandLine.parse(words, environment)), FIRST_WORK);
    }

    @ParameterizedTest
    @CsvSource({"ALWAYS, true", "IF_MEASURING, false", "NEVER, false"})
    void aClientWarmsUpOnlyIfRequested(WarmUpChoice choice, boolean isExpected) {
        environment.warmUp(choice);
        List<String> toNobody = List.of("-c", "-a", "127.0.0.1", "-p", "1", "-C", "1");
        int _ = Rping.run(toNobody, environment, (_, _) -> {});
        assertThat(errors.toString(StandardCharsets.UTF_8).contains("rping: warmed up for"))
                .isEqualTo(isExpected);
    }

    @Test
    void aWarmUpWithInvalidArgumentsDoesNothing() {
        Rping.warmUp(List.of("-c", "-S", "1"));
        assertThat(errors.size()).isZero();
    }
}

package io.rdma4j.bench.plan;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIOException;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.rdma4j.bench.worker.Figures;
import io.rdma4j.bench.worker.MissingPeerException;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;

@EnabledOnOs(OS.LINUX)
class CommandPairTest {
    private static final Pace TINY = new Pace("tiny", 0, 1, 1, 1, 60, 20);

    private static CommandPair pair(String client, long headStartMillis) {
        return new CommandPair(
                "t",
                List.of("sleep", "300"),
                List.of("sh", "-c", client),
                Map.of("FIGURE", "7"),
                headStartMillis,
                text -> Map.of("figure", Double.valueOf(text.lines().findFirst().orElse("NaN"))));
    }

    @Test
    void missingToolIsNamed() {
        List<String> words = List.of("no-such-tool-here");
        var pair = new CommandPair("t", words, words, Map.of(), CommandPair.UNTIL_IT_LISTENS, _ -> Map.of());
        assertThatThrownBy(() -> pair.run(Pace.QUICK))
                .isInstanceOf(MissingPeerException.class)
                .hasMessage("no-such-tool-here is not installed");
    }

    @Test
    void figuresAreThoseOfTheClientWithItsRunTime() throws Exception {
        Map<String, Double> figures = pair("echo $FIGURE; [ {server} = 127.71.0.1 ] && [ {port} -gt 0 ]", 0)
                .run(TINY);
        assertThat(figures).containsEntry("figure", 7.0).containsOnlyKeys("figure", Figures.SECONDS);
        assertThat(figures.get(Figures.SECONDS)).isBetween(0.0, 20.0);
    }

    @Test
    void failureHasTheStatusAndTheLastLineOfTheClient() {
        assertThatIOException()
                .isThrownBy(() -> pair("echo 1; echo refused >&2; exit 3", 0).run(TINY))
                .withMessage("status 3, output: refused");
    }

    @Test
    void serverThatDoesNotListenIsReported() {
        assertThatIOException()
                .isThrownBy(() -> pair("echo 1", CommandPair.UNTIL_IT_LISTENS).run(TINY))
                .withMessage("the server does not start listening");
    }
}

package io.rdma4j.bench.plan;

import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.rdma4j.bench.worker.MissingPeerException;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

class CommandPairTest {
    @Test
    void missingToolIsNamed() {
        List<String> words = List.of("no-such-tool-here");
        var pair = new CommandPair("t", words, words, Map.of(), CommandPair.UNTIL_IT_LISTENS, _ -> Map.of());
        assertThatThrownBy(() -> pair.run(Pace.QUICK))
                .isInstanceOf(MissingPeerException.class)
                .hasMessage("no-such-tool-here is not installed");
    }
}

package io.rdma4j.tools;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.FieldSource;

/** The training silently skips failed runs, which makes every later start slower. All runs must therefore succeed. */
@Timeout(60)
class StartTrainingTest {
    @ParameterizedTest
    @FieldSource("io.rdma4j.tools.StartTraining#PAIRS")
    void clientAndServerOfEveryPairSucceed(StartTraining.ClientServerPair pair) {
        assertThat(StartTraining.succeeds(pair, ToolTestSupport.loopback())).isTrue();
    }
}

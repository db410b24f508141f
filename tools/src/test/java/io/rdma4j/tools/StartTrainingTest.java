package io.rdma4j.tools;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.FieldSource;

/** Tests that all runs of the training succeed. It skips failed runs silently, and later starts would be slower. */
@Timeout(60)
class StartTrainingTest {
    @ParameterizedTest
    @FieldSource("io.rdma4j.tools.StartTraining#PAIRS")
    void clientAndServerOfEveryPairSucceed(StartTraining.ClientServerPair pair) {
        assertThat(StartTraining.succeeds(pair, ToolTestSupport.loopback())).isTrue();
    }
}

package io.rdma4j.tools;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.FieldSource;

/** The training skips failed runs silently, and every later start would be slower. So all runs must succeed. */
@Timeout(60)
class StartTrainingTest {
    @ParameterizedTest
    @FieldSource("io.rdma4j.tools.StartTraining#PAIRS")
    void clientAndServerOfEveryPairSucceed(StartTraining.ClientServerPair pair) {
        assertThat(StartTraining.succeeds(pair, ToolTestSupport.loopback())).isTrue();
    }
}

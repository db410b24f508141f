package io.rdma4j.harness;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;
import org.junit.jupiter.api.io.TempDir;

/** Figures in the output of perftest. */
@EnabledOnOs(OS.LINUX)
@Timeout(60)
class PerftestTableTest {
    @TempDir
    Path folder = Path.of("");

    private RunningProcess printing(String text) throws Exception {
        return new Stage(folder, Duration.ofSeconds(30))
                .start("client", List.of(), List.of("printf", "%s\\n", text))
                .requireSuccess();
    }

    @Test
    void latencyIsTheTypicalOne() throws Exception {
        RunningProcess client =
                printing(" 2       100          1.50           9.75         2.25     \t       2.40  0.10  3.00  9.75");
        assertThat(PerftestTable.figure(client)).isEqualTo("typical 2.25 us");
        assertThat(PerftestTable.value(client)).isEqualTo(2.25);
    }

    @Test
    void rateIsTheAverageOfTheLastRow() throws Exception {
        RunningProcess client =
                printing(" #bytes     #iterations\n 2          5                0.10               0.09 \t\t   0.04\n"
                        + " 4          5                0.30               0.21 \t\t   0.05");
        assertThat(PerftestTable.figure(client)).isEqualTo("0.21 MB/s");
    }

    @Test
    void testOfADurationHasAnAverage() throws Exception {
        assertThat(PerftestTable.figure(printing(" 2       1234          7.50           133.00")))
                .isEqualTo("average 7.50 us");
    }

    @Test
    void outputWithoutARowFails() throws Exception {
        RunningProcess client = printing(" 2       100          inf           inf         inf");
        assertThatExceptionOfType(CaseFailure.class)
                .isThrownBy(() -> PerftestTable.figure(client))
                .withMessage("the client prints no row of figures");
    }
}

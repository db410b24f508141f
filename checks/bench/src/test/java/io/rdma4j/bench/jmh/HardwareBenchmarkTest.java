package io.rdma4j.bench.jmh;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;

class HardwareBenchmarkTest {
    @Test
    void theDriverServesEveryBenchmark() throws Throwable {
        assumeTrue(Files.exists(Path.of("/usr/include/infiniband/verbs.h")), "needs libibverbs-dev");
        HardwareBenchmark benchmark = new HardwareBenchmark();
        benchmark.check();
        assertThat(benchmark.emptyFunction()).isZero();
        assertThat(benchmark.emptyFunctionCritical()).isZero();
        for (int i = 0; i < 200; i++) { // more than a queue holds
            assertThat(benchmark.pollNothing()).isZero();
            assertThat(benchmark.pollOne()).isEqualTo(2);
            assertThat(benchmark.pollOneOfDeviceClock()).isEqualTo(1);
            benchmark.postSend();
            benchmark.postReceive();
        }
        benchmark.pollNothingInC();
        benchmark.pollOneInC();
        benchmark.postSendInC();
        benchmark.postReceiveInC();
        benchmark.close();
    }
}

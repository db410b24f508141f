package io.rdma4j.soft;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.rdma4j.fixture.TestEndpoint;
import io.rdma4j.verbs.Errno;
import io.rdma4j.verbs.RdmaException;
import java.net.InetAddress;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** A connection with a rate limit takes at least as long as its bytes take at this rate. */
@Timeout(30)
class RateLimitTest {
    private static final int BYTES = 4096;
    private static final int WRITES = 20;
    private static final long KILOBITS_PER_SECOND = 8_000;

    /** Without headers, and reduced by the time that may be made up. */
    private static final long NANOS_AT_LEAST = TimeUnit.MILLISECONDS.toNanos(WRITES * BYTES / 1_000 - 6);

    private TestEndpoint a;
    private TestEndpoint b;

    @BeforeEach
    void connect() {
        InetAddress address = TestAddresses.loopback();
        a = new TestEndpoint(address);
        b = new TestEndpoint(address);
        TestEndpoint.connect(a, b);
    }

    @AfterEach
    void close() {
        a.close();
        b.close();
    }

    private long nanosToWrite() {
        long begin = System.nanoTime();
        for (int i = 0; i < WRITES; i++) {
            a.queuePair.postWrite(i, a.region, 0, BYTES, b.region.remote());
            assertThat(a.completion().isSuccess()).isTrue();
        }
        return System.nanoTime() - begin;
    }

    @Test
    void writesTakeTheTimeOfTheirBytes() {
        a.queuePair.setRateLimit(KILOBITS_PER_SECOND);
        assertThat(nanosToWrite()).isGreaterThan(NANOS_AT_LEAST);
        a.queuePair.setRateLimit(0);
        nanosToWrite();
    }

    @ParameterizedTest
    @ValueSource(longs = {-1, 1L << 31})
    void otherRatesAreRefused(long kilobits) {
        assertThatThrownBy(() -> a.queuePair.setRateLimit(kilobits))
                .isInstanceOfSatisfying(
                        RdmaException.class, e -> assertThat(e.errno()).isEqualTo(Errno.EINVAL))
                .hasMessageContaining("a rate of " + kilobits + " kbit/s");
    }
}

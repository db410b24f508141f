package io.rdma4j.testkit;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

import io.rdma4j.fixture.RoceCapture;
import io.rdma4j.verbs.RdmaException;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Faults and rates of a network, its recording and its open objects, without JUnit's extension. */
class NetworkConditionsTest {
    private static final int MEBIBYTE = 1 << 20;

    private static TestNetwork.Builder network() {
        return TestNetwork.builder().virtualTime().seed(11).recordPackets(64 << 20);
    }

    /** Writes a mebibyte in virtual time, and returns how long that takes. */
    private static Duration write(TestNetwork network) {
        TestHost client = network.addHost("10.0.0.1");
        TestHost server = network.addHost("10.0.0.2");
        try (ConnectedPair pair = ConnectedPair.connect(client, server, MEBIBYTE)) {
            pair.client().memory().fill((byte) 7);
            Duration before = network.time().elapsed();
            pair.client()
                    .connection()
                    .write(pair.client().buffer(), pair.server().remote());
            assertThat(pair.server().memory().mismatch(pair.client().memory())).isEqualTo(-1);
            return network.time().elapsed().minus(before);
        }
    }

    /**
     * A packet of 4096 bytes has 4178 bytes on Ethernet. The sender's link takes 8.6 ms for all packets, and the
     * receiver's link takes the time of one packet more.
     */
    @Test
    void aMebibyteTakesEightMillisecondsAtAGigabitPerSecond() {
        try (TestNetwork network = network().conditions("rate=1Gbit").build()) {
            assertThat(write(network)).isBetween(Duration.ofNanos(8_500_000), Duration.ofMillis(12));
        }
        try (TestNetwork network = network().build()) {
            assertThat(write(network)).isLessThan(Duration.ofMillis(1));
        }
    }

    @Test
    void eachPacketIsLostOnceWithTheGivenProbability() {
        try (TestNetwork network = network().conditions("loss=10%").build()) {
            write(network);
            List<String> lines = network.lastPackets(Integer.MAX_VALUE);
            long lost = lines.stream().filter(line -> line.contains(" lost ")).count();
            assertThat(lost / (double) network.packetsSent()).isBetween(0.05, 0.15);
            assertThat(network.packetsSent() + lost).isEqualTo(lines.size());
        }
    }

    @Test
    void conditionsMayChange() {
        try (TestNetwork network = network().build();
                ConnectedPair pair = ConnectedPair.connect(network.addHost("fd00::1"), network.addHost("fd00::2"))) {
            network.conditions("loss=100%");
            assertThatExceptionOfType(RdmaException.class)
                    .isThrownBy(() -> pair.client()
                            .connection()
                            .write(pair.client().buffer(), pair.server().remote()))
                    .withMessageContaining("RETRY_EXCEEDED_ERROR");
        }
        assertThatIllegalArgumentException()
                .isThrownBy(() -> network().conditions("jam=1%").build())
                .withMessageContaining("jam");
    }

    @Test
    void aRecordingKeepsTheLastPackets(@TempDir Path folder) throws IOException {
        try (TestNetwork network = network().recordPackets(50_000).build()) {
            write(network);
            assertThat(network.packetsSent()).isGreaterThan(256);
            assertThat(network.packetsInMemory()).isBetween(5L, 50L);
            Path capture = folder.resolve("last.pcapng");
            network.writeCapture(capture);
            RoceCapture read = RoceCapture.read(capture);
            assertThat(read.frames()).hasSize((int) network.packetsInMemory());
            assertThat(read.icrcErrors()).isZero();
        }
    }

    @Test
    void openObjectsNameThePlacesOfTheirCreation() {
        try (TestNetwork network = network().traceObjects().build()) {
            TestHost host = network.addHost("10.0.0.1");
            try (ConnectedPair _ = ConnectedPair.connect(host, host)) {
                assertThat(network.openObjects())
                        .anyMatch(each -> each.description().startsWith("queue pair 0x")
                                && each.place().contains("ConnectedPair.connect(ConnectedPair.java:"));
            }
            assertThat(network.openObjects()).isEmpty();
            assertThat(network.isInVirtualTime()).isTrue();
        }
    }

    @Test
    void featuresThatWereNotRequestedAreRejected() {
        try (TestNetwork network = new TestNetwork()) {
            assertThatIllegalStateException().isThrownBy(network::time).withMessageContaining("real time");
            assertThatIllegalStateException().isThrownBy(network::packetsSent).withMessageContaining("recordPackets");
            assertThatIllegalStateException().isThrownBy(network::openObjects).withMessageContaining("traceObjects");
        }
    }
}

package io.rdma4j.soft.report;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIOException;

import io.rdma4j.soft.SoftStack;
import io.rdma4j.soft.TestAddresses;
import io.rdma4j.verbs.DeviceContext;
import java.io.IOException;
import java.net.UnixDomainSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.Channels;
import java.nio.channels.SocketChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** The report of a stack, and the socket that other processes read it from. */
@Timeout(30)
class StackReportTest {
    private static final StackReport REPORT = new StackReport(
            4711,
            "org.example.Server",
            7,
            List.of(new DeviceReport("rdma4j_eth0", "eth0", 1, Map.of("sent_pkts", 12L))),
            List.of(new QueuePairReport(
                    "rdma4j_eth0",
                    0x070001,
                    "RELIABLE_CONNECTION",
                    "READY_TO_SEND",
                    "192.0.2.1",
                    "192.0.2.2",
                    0x080002,
                    1L << 40,
                    5,
                    Map.of("sent_pkts", 12L, "rcvd_pkts", 3L))),
            2);

    @TempDir
    @SuppressWarnings("NullAway.Init")
    Path folder;

    @Test
    void aReportIsDecodedAsItWasEncoded() throws IOException {
        assertThat(StackReport.decode(REPORT.encode())).isEqualTo(REPORT);
    }

    @Test
    void aReportThatEndsEarlyOrLateIsRefused() {
        byte[] bytes = REPORT.encode();
        for (int length = 0; length < bytes.length; length++) {
            byte[] some = Arrays.copyOf(bytes, length);
            assertThatIOException().isThrownBy(() -> StackReport.decode(some));
        }
        assertThatIOException()
                .isThrownBy(() -> StackReport.decode(Arrays.copyOf(bytes, bytes.length + 1)))
                .withMessage("the report is followed by other bytes");
    }

    @Test
    void aReportOfAnotherVersionIsRefused() {
        byte[] bytes = REPORT.encode();
        bytes[7]++;
        assertThatIOException()
                .isThrownBy(() -> StackReport.decode(bytes))
                .withMessage("the report is of another version of rdma4j");
    }

    @Test
    void aListOfImpossibleLengthIsRefused() {
        byte[] bytes = REPORT.encode();
        int devicesAt = 8 + 8 + 2 + REPORT.program().length() + 4;
        ByteBuffer.wrap(bytes).putInt(devicesAt, Integer.MAX_VALUE);
        assertThatIOException()
                .isThrownBy(() -> StackReport.decode(bytes))
                .withMessageContaining("a list of the report has 2147483647 elements");
    }

    @Test
    void aStackAnswersUntilItIsClosed() throws IOException {
        Path run = folder.resolve("run");
        try (SoftStack stack = SoftStack.builder().runDirectory(run).build();
                DeviceContext context =
                        stack.deviceOf(TestAddresses.loopback()).orElseThrow().open()) {
            Path socket = sockets(run).getFirst();
            for (int i = 0; i < 3; i++) {
                StackReport report = read(socket);
                assertThat(report.pid()).isEqualTo(ProcessHandle.current().pid());
                assertThat(socket.getFileName()).hasToString("report-" + report.slot() + ".sock");
                assertThat(report.devices())
                        .extracting(DeviceReport::name)
                        .containsExactly(context.device().name());
                assertThat(report.queuePairs()).isEmpty();
            }
        }
        assertThat(sockets(run)).isEmpty();
    }

    private static List<Path> sockets(Path run) throws IOException {
        try (Stream<Path> files = Files.list(run)) {
            return files.filter(file -> file.getFileName().toString().startsWith("report-"))
                    .toList();
        }
    }

    private static StackReport read(Path socket) throws IOException {
        try (SocketChannel channel = SocketChannel.open(UnixDomainSocketAddress.of(socket))) {
            return StackReport.decode(Channels.newInputStream(channel).readAllBytes());
        }
    }
}

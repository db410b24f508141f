package io.rdma4j.testkit;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.rdma4j.link.decorator.PcapngWriter;
import io.rdma4j.wire.Bth;
import io.rdma4j.wire.Frame;
import io.rdma4j.wire.Icrc;
import io.rdma4j.wire.Opcode;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Tests reading captures. */
class RoceCaptureTest {
    private static final int FECN_AND_BECN = 4;

    @TempDir
    private Path folder = Path.of("");

    private static Frame frame(boolean ipv4, int port) {
        byte[] bytes = new byte[Bth.LENGTH + Opcode.RC_ACKNOWLEDGE.headerLength() + Icrc.LENGTH];
        Frame frame = new Frame();
        frame.segment = MemorySegment.ofArray(bytes);
        frame.buffer = ByteBuffer.wrap(bytes);
        frame.length = Opcode.RC_ACKNOWLEDGE.headerLength() + Icrc.LENGTH;
        bytes[0] = (byte) Opcode.RC_ACKNOWLEDGE.code();
        frame.sourceHigh = ipv4 ? 0 : 0xfd00_0000_0000_0000L;
        frame.sourceLow = ipv4 ? Frame.ipv4Low(0x0a000001) : 1;
        frame.destinationHigh = frame.sourceHigh;
        frame.destinationLow = frame.sourceLow + 1;
        frame.sourcePort = 50_000;
        frame.destinationPort = port;
        new Icrc().seal(frame);
        return frame;
    }

    private Path write(Frame... frames) throws IOException {
        Path file = folder.resolve("capture.pcapng");
        try (PcapngWriter writer = PcapngWriter.create(file, () -> 0)) {
            for (Frame frame : frames) {
                writer.write(frame, true);
            }
        }
        return file;
    }

    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void framesAreReadAsTheyWereWritten(boolean ipv4) throws IOException {
        Frame written = frame(ipv4, Frame.UDP_PORT);
        RoceCapture capture = RoceCapture.read(write(written, written));
        assertThat(capture.opcodes()).isEqualTo(Map.of(Opcode.RC_ACKNOWLEDGE.code(), 2));
        assertThat(capture.bytes()).isEqualTo(2L * written.length);
        assertThat(capture.others()).isZero();
        String network = ipv4 ? "10.0.0." : "fd00::";
        assertThat(capture.frames()).hasSize(2).allSatisfy(frame -> {
            assertThat(frame.source()).isEqualTo(new InetSocketAddress(network + 1, 50_000));
            assertThat(frame.destination()).isEqualTo(new InetSocketAddress(network + 2, Frame.UDP_PORT));
            assertThat(frame.bytes()).isEqualTo(written.buffer.slice(written.offset, written.length));
        });
    }

    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void everyFrameWithOneWrongBitHasAnIcrcError(boolean ipv4) throws IOException {
        Frame written = frame(ipv4, Frame.UDP_PORT);
        written.trafficClass = 2;
        written.hopLimit = 9;
        assertThat(RoceCapture.read(write(written)).icrcErrors()).isZero();
        for (int bit = 0; bit < 8 * written.length; bit++) {
            int at = bit / 8;
            written.buffer.put(at, (byte) (written.buffer.get(at) ^ 1 << bit % 8));
            long expected = at == FECN_AND_BECN ? 0 : 1;
            assertThat(RoceCapture.read(write(written)).icrcErrors())
                    .as("bit %d", bit)
                    .isEqualTo(expected);
            written.buffer.put(at, (byte) (written.buffer.get(at) ^ 1 << bit % 8));
        }
    }

    @Test
    void packetsToOtherPortsAreCountedSeparately() throws IOException {
        RoceCapture capture = RoceCapture.read(write(frame(true, 4790), frame(false, Frame.UDP_PORT)));
        assertThat(capture.others()).isOne();
        assertThat(capture.frames()).hasSize(1);
    }

    @Test
    void truncatedFileIsReadUpToItsLastCompleteBlock() throws IOException {
        Path file = write(frame(true, Frame.UDP_PORT), frame(true, Frame.UDP_PORT));
        byte[] whole = Files.readAllBytes(file);
        Files.write(file, Arrays.copyOf(whole, whole.length - 1));
        assertThat(RoceCapture.read(file).frames()).hasSize(1);
    }

    @Test
    void fileThatIsNotACaptureIsRefused() throws IOException {
        Path file = Files.writeString(folder.resolve("text"), "this is not a packet capture");
        assertThatThrownBy(() -> RoceCapture.read(file))
                .isInstanceOf(IOException.class)
                .hasMessageContaining("is neither a pcapng capture");
    }
}

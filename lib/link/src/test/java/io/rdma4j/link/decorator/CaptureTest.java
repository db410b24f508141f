package io.rdma4j.link.decorator;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.rdma4j.link.ChildJava;
import io.rdma4j.link.Frames;
import io.rdma4j.link.Link;
import io.rdma4j.link.LinkSet;
import io.rdma4j.link.ReceiveBurst;
import io.rdma4j.link.SendBurst;
import io.rdma4j.link.internal.SourceAddress;
import io.rdma4j.link.memory.MemoryNetwork;
import io.rdma4j.wire.Frame;
import io.rdma4j.wire.Icrc;
import java.io.BufferedReader;
import java.io.FileOutputStream;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.URISyntaxException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;
import org.junit.jupiter.api.io.TempDir;

@Timeout(60)
class CaptureTest {
    private static final InetAddress ONE = InetAddress.ofLiteral("10.0.0.1");
    private static final InetAddress TWO = InetAddress.ofLiteral("10.0.0.2");
    private static final InetAddress ONE_V6 = InetAddress.ofLiteral("fd00::1");
    private static final InetAddress TWO_V6 = InetAddress.ofLiteral("fd00::2");
    private static final long TIME = 1_700_000_000_123_456_789L;

    private final MemoryNetwork network = new MemoryNetwork(65536);
    private final SendBurst burst = new SendBurst(Arena.ofAuto(), SendBurst.MAX_FRAME_BYTES);
    private final ReceiveBurst received = new ReceiveBurst(16);
    private final Icrc icrc = new Icrc();
    private long time = TIME;

    @TempDir
    @SuppressWarnings("NullAway.Init")
    Path folder;

    private PcapngWriter writer(String name) throws IOException {
        return PcapngWriter.create(folder.resolve(name), () -> time++);
    }

    /** Sends an RC SEND_ONLY with a payload, sealed for the sending link. */
    private void sendPacket(Link from, InetSocketAddress to, int payload) {
        burst.clear();
        Frames.address(burst, to);
        burst.segment().fill((byte) 0x5a);
        burst.buffer().putInt(0, 0x0400_ffff).putInt(4, 0x11).putInt(8, 0x8000_0001);
        burst.append(12 + payload + Icrc.LENGTH);
        icrc.seal(new SourceAddress(from).complete(burst, 0));
        from.send(burst);
    }

    private static int ipv4HeaderSum(ByteBuffer packet) {
        int sum = 0;
        for (int i = 0; i < 20; i += 2) {
            sum += packet.getShort(i) & 0xffff;
        }
        return (sum >>> 16) + (sum & 0xffff);
    }

    @Test
    void ipv4FramesOfBothDirectionsAreWrittenWithHeadersAndTimes() throws IOException {
        try (LinkSet set = network.newLinkSet();
                PcapngWriter writer = writer("v4.pcapng")) {
            Link one = new CaptureLink(set.openUdp(ONE, 4791), writer);
            Link two = new CaptureLink(set.openUdp(TWO, 4791), writer);
            sendPacket(one, two.localAddress(), 5);
            assertThat(two.poll(received)).isEqualTo(1);
            byte[] frame = Frames.bytes(received.frame(0));
            // The file is read while the writer is still open: each burst is in the file when its call returns.
            List<PcapngReader.Packet> packets = PcapngReader.read(writer.path());
            assertThat(packets).hasSize(2);
            assertThat(packets.get(0).flags()).isEqualTo(2);
            assertThat(packets.get(1).flags()).isEqualTo(1);
            assertThat(packets.get(0).epochNanos()).isEqualTo(TIME);
            assertThat(packets.get(1).epochNanos()).isEqualTo(TIME + 1);
            for (PcapngReader.Packet packet : packets) {
                ByteBuffer bytes = packet.bytes();
                assertThat(bytes.capacity()).isEqualTo(28 + frame.length);
                assertThat(bytes.getShort(0)).isEqualTo((short) 0x4500);
                assertThat(bytes.getShort(2)).isEqualTo((short) (28 + frame.length));
                assertThat(bytes.getInt(4))
                        .as("identification 0, don't fragment")
                        .isEqualTo(0x4000);
                assertThat(bytes.getShort(8)).as("TTL 64, UDP").isEqualTo((short) 0x4011);
                assertThat(ipv4HeaderSum(bytes)).isEqualTo(0xffff);
                assertThat(bytes.getInt(12)).isEqualTo(0x0a000001);
                assertThat(bytes.getInt(16)).isEqualTo(0x0a000002);
                assertThat(bytes.getShort(20)).isEqualTo((short) 4791);
                assertThat(bytes.getShort(22)).isEqualTo((short) 4791);
                assertThat(bytes.getShort(24)).isEqualTo((short) (8 + frame.length));
                assertThat(bytes.slice(28, frame.length)).isEqualTo(ByteBuffer.wrap(frame));
            }
        }
    }

    @Test
    void ipv6FramesHaveAValidUdpChecksum() throws IOException {
        try (LinkSet set = network.newLinkSet();
                PcapngWriter writer = writer("v6.pcapng")) {
            Link one = new CaptureLink(set.openUdp(ONE_V6, 0), writer);
            Link two = set.openUdp(TWO_V6, 4791);
            for (int payload = 0; payload < 4; payload++) {
                sendPacket(one, two.localAddress(), payload);
            }
            List<PcapngReader.Packet> packets = PcapngReader.read(writer.path());
            assertThat(packets).hasSize(4);
            for (PcapngReader.Packet packet : packets) {
                ByteBuffer bytes = packet.bytes();
                int udp = bytes.getShort(4) & 0xffff;
                assertThat(udp).isEqualTo(bytes.capacity() - 40);
                assertThat(bytes.getInt(0)).isEqualTo(0x6000_0000);
                assertThat(bytes.getShort(6)).isEqualTo((short) 0x1140);
                assertThat(bytes.getLong(8)).isEqualTo(0xfd00_0000_0000_0000L);
                assertThat(bytes.getLong(32)).isEqualTo(2);
                long sum = 17L + udp;
                for (int i = 8; i < bytes.capacity(); i += 2) {
                    sum += i + 1 < bytes.capacity() ? bytes.getShort(i) & 0xffff : (bytes.get(i) & 0xff) << 8;
                }
                assertThat(sum % 0xffff)
                        .as("the checksum makes the sum all ones")
                        .isZero();
            }
        }
    }

    @Test
    void unknownIdentificationIsRecoveredFromTheIcrc() throws IOException {
        try (LinkSet set = network.newLinkSet();
                PcapngWriter writer = writer("id.pcapng")) {
            Link one = set.openUdp(ONE, 4791);
            sendPacket(one, one.localAddress(), 32);
            one.poll(received);
            Frame frame = received.frame(0);
            frame.identification = 0xbeef;
            icrc.seal(frame);
            frame.identification = Frame.IDENTIFICATION_UNKNOWN;
            writer.write(frame, false);
            frame.buffer.putInt(frame.offset + 12, 1);
            writer.write(frame, false);
            writer.flush();
            List<PcapngReader.Packet> packets = PcapngReader.read(writer.path());
            assertThat(packets.get(0).bytes().getShort(4)).isEqualTo((short) 0xbeef);
            assertThat(packets.get(1).bytes().getShort(4)).isZero();
        }
    }

    @Test
    void severalLinksShareOneFileForThousandsOfFrames() throws IOException {
        try (LinkSet set = network.newLinkSet();
                PcapngWriter writer = writer("many.pcapng")) {
            Link one = new CaptureLink(set.openUdp(ONE, 4791), writer);
            Link two = new CaptureLink(set.openUdp(TWO, 4791), writer);
            for (int i = 0; i < 1000; i++) {
                sendPacket(one, two.localAddress(), i % 4096);
                two.poll(received);
            }
            assertThat(PcapngReader.read(writer.path())).hasSize(2000);
            assertThat(writer.lostPackets()).isZero();
        }
    }

    @Test
    void fileThatCannotBeCreatedIsNamed() {
        Path nowhere = folder.resolve("no/such/folder.pcapng");
        assertThatThrownBy(() -> PcapngWriter.create(nowhere, () -> 0))
                .isInstanceOf(IOException.class)
                .hasMessageContaining(nowhere.toString())
                .hasMessageContaining("no such folder");
    }

    @Test
    void fullDiskCountsLostPacketsAndDoesNotStopTheLink() throws IOException {
        Path full = Path.of("/dev/full");
        assumeTrue(Files.exists(full), "needs a device that is always full");
        assertThatThrownBy(() -> PcapngWriter.create(full, () -> 0))
                .isInstanceOf(IOException.class)
                .hasMessageContaining("/dev/full");
        PcapngWriter closed = writer("closed.pcapng");
        closed.close();
        closed.close();
        try (LinkSet set = network.newLinkSet()) {
            Link one = new CaptureLink(set.openUdp(ONE, 4791), closed);
            sendPacket(one, one.localAddress(), 1);
            assertThat(one.poll(received)).isEqualTo(1);
            assertThat(closed.lostPackets()).isEqualTo(2);
            assertThat(PcapngReader.read(closed.path())).isEmpty();
        }
    }

    /** Starts a {@link CaptureProcess}. Its files are limited to {@code kibibytes}, unless that is 0. */
    private static Process capturing(Path file, int packets, int kibibytes) throws IOException, URISyntaxException {
        List<String> command = new ArrayList<>();
        if (kibibytes > 0) {
            command.addAll(List.of("bash", "-c", "ulimit -f " + kibibytes + "; exec \"$@\"", "bash"));
        }
        command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
        command.addAll(List.of("-XX:-UsePerfData", "-cp", ChildJava.classPath()));
        command.addAll(List.of(CaptureProcess.class.getName(), file.toString(), String.valueOf(packets)));
        return new ProcessBuilder(command)
                .redirectError(ProcessBuilder.Redirect.INHERIT)
                .start();
    }

    @Test
    @EnabledOnOs(OS.LINUX)
    void fileAtItsSizeLimitEndsWithACompletePacketAndTheLossIsReported() throws Exception {
        Path file = folder.resolve("short.pcapng");
        Process process = capturing(file, 1000, 64);
        process.getOutputStream().close();
        List<String> lines = process.inputReader().lines().toList();
        assertThat(process.waitFor()).isZero();
        int captured = PcapngReader.read(file).size();
        assertThat(Files.size(file)).isBetween(60L * 1024, 64L * 1024);
        assertThat(lines)
                .satisfiesExactly(
                        open -> assertThat(open).isEqualTo("open"),
                        reported -> assertThat(reported)
                                .startsWith("reported ")
                                .contains(file.toString(), "File too large"),
                        sent -> assertThat(sent).isEqualTo("sent"),
                        failed -> assertThat(failed)
                                .startsWith("failed ")
                                .contains(file.toString(), "File too large", (1000 - captured) + " packets"));
    }

    @Test
    void secondProcessCannotWriteTheSameFile() throws Exception {
        Path file = folder.resolve("held.pcapng");
        Process process = capturing(file, 10, 0);
        try (BufferedReader lines = process.inputReader()) {
            assertThat(lines.readLine()).isEqualTo("open");
            assertThat(lines.readLine()).isEqualTo("sent");
            assertThatThrownBy(() -> PcapngWriter.create(file, () -> 0))
                    .isInstanceOf(IOException.class)
                    .hasMessageContaining(file.toString())
                    .hasMessageContaining("another capture");
            process.getOutputStream().close();
            assertThat(process.waitFor()).isZero();
        }
        assertThat(PcapngReader.read(file)).hasSize(10);
        PcapngWriter.create(file, () -> 0).close();
        assertThat(PcapngReader.read(file)).isEmpty();
    }

    @Test
    void secondCaptureOfTheProcessCannotWriteTheSameFile() throws IOException {
        try (PcapngWriter first = writer("twice.pcapng")) {
            assertThatThrownBy(() -> writer("twice.pcapng"))
                    .isInstanceOf(IOException.class)
                    .hasMessageContaining("another capture");
            assertThat(first.failure()).isNull();
        }
    }

    /** As network file systems do, which write late. */
    @Test
    void errorThatOnlyTheCloseReportsNamesTheFile() throws IOException {
        Path file = folder.resolve("late.pcapng");
        FileOutputStream late = new FileOutputStream(file.toFile(), true) {
            @Override
            public void close() throws IOException {
                super.close();
                throw new IOException("No space left on device");
            }
        };
        PcapngWriter writer = PcapngWriter.create(late, file, () -> 0, told -> {});
        assertThatThrownBy(writer::close)
                .isInstanceOf(IOException.class)
                .hasMessage("write packet capture " + file + ": No space left on device");
        writer.close();
    }

    @Test
    void interruptedThreadDoesNotEndTheCapture() throws IOException {
        try (LinkSet set = network.newLinkSet();
                PcapngWriter writer = writer("interrupted.pcapng")) {
            Link one = new CaptureLink(set.openUdp(ONE, 4791), writer);
            Thread.currentThread().interrupt();
            sendPacket(one, one.localAddress(), 1);
            assertThat(Thread.interrupted()).isTrue();
            sendPacket(one, one.localAddress(), 1);
            assertThat(writer.failure()).isNull();
            assertThat(PcapngReader.read(writer.path())).hasSize(2);
        }
    }

    @Test
    void tsharkReadsTheCapture() throws Exception {
        assumeTrue(Files.isExecutable(Path.of("/usr/bin/tshark")), "needs tshark");
        PcapngWriter writer = writer("tshark.pcapng");
        try (LinkSet set = network.newLinkSet()) {
            sendPacket(new CaptureLink(set.openUdp(ONE, 4791), writer), new InetSocketAddress(TWO, 4791), 4);
            sendPacket(new CaptureLink(set.openUdp(ONE_V6, 4791), writer), new InetSocketAddress(TWO_V6, 4791), 4);
        }
        writer.close();
        Process tshark = new ProcessBuilder(
                        "/usr/bin/tshark",
                        "-r",
                        writer.path().toString(),
                        "-o",
                        "ip.check_checksum:TRUE",
                        "-o",
                        "udp.check_checksum:TRUE",
                        "-T",
                        "fields",
                        "-e",
                        "frame.time_epoch",
                        "-e",
                        "ip.checksum.status",
                        "-e",
                        "udp.checksum.status",
                        "-e",
                        "infiniband.bth.opcode",
                        "-e",
                        "infiniband.bth.destqp",
                        "-e",
                        "frame.p2p_dir")
                .redirectError(ProcessBuilder.Redirect.DISCARD)
                .start();
        String output = new String(tshark.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        assertThat(tshark.waitFor(30, TimeUnit.SECONDS)).isTrue();
        assertThat(tshark.exitValue()).isZero();
        assertThat(output.lines().map(line -> line.split("\t", -1)).toList())
                .satisfiesExactly(
                        v4 -> assertThat(v4).startsWith("1700000000.123456789", "1", "3", "4", "0x000011", "0"),
                        v6 -> assertThat(v6).startsWith("1700000000.123456790", "", "1", "4", "0x000011", "0"));
    }
}

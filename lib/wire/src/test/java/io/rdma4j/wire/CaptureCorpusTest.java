package io.rdma4j.wire;

import static org.assertj.core.api.Assertions.assertThat;

import io.rdma4j.wire.Captures.Captured;
import io.rdma4j.wire.cm.CmMad;
import io.rdma4j.wire.cm.CmMessage;
import io.rdma4j.wire.cm.GsiPacket;
import io.rdma4j.wire.cm.IpCmHeader;
import io.rdma4j.wire.cm.MadHeader;
import io.rdma4j.wire.cm.PrivateData;
import io.rdma4j.wire.cm.Req;
import io.rdma4j.wire.cm.SidrReq;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/**
 * Checks that every captured RoCEv2 frame of Linux decodes, re-encodes to the same bytes and has the computed ICRC. The
 * deliberately malformed frames are listed, each with its defect.
 */
class CaptureCorpusTest {
    private final Icrc icrc = new Icrc();
    private final Packet packet = new Packet();

    @ParameterizedTest
    @CsvSource({
        "all, 39",
        "badlen, 8",
        "dead, 9",
        "loss, 359",
        "mckey, 3",
        "mckey_sendonly, 3",
        "noans, 4",
        "nolisten, 2",
        "rcpp, 36",
        "rej, 2",
        "riostream, 31",
        "rnr, 9",
        "rping, 41",
        "rping6, 29",
        "rstream, 31",
        "uc, 18",
        "ucmatose, 42",
        "ud, 4",
        "udaddy, 16"
    })
    void everyFrameOfLinuxReencodesToTheSameBytes(String file, int count) {
        List<Captured> frames = Captures.frames(file);
        assertThat(frames).hasSize(count);
        assertThat(faults(frames)).isEmpty();
    }

    @Test
    void onlyTheDeliberatelyMalformedInjectedPacketsAreRejected() {
        List<Captured> frames = Captures.frames("inject");
        assertThat(frames).hasSize(57);
        assertThat(faults(frames))
                .containsExactly("inject #16: wrong ICRC", "inject #24: nonzero padding", "inject #48: UNKNOWN_OPCODE");
    }

    @Test
    void onlyTheDeliberatelyMalformedCmMessagesAreRejected() {
        List<Captured> frames = Captures.frames("cmfuzz");
        assertThat(frames).hasSize(96);
        assertThat(faults(frames))
                .containsExactly(
                        "cmfuzz #29: no IP-CM header in 0140",
                        "cmfuzz #31: no IP-CM header in 0000",
                        "cmfuzz #69: NOT_CM",
                        "cmfuzz #70: NOT_CM",
                        "cmfuzz #71: BAD_METHOD",
                        "cmfuzz #72: unusual MAD header",
                        "cmfuzz #75: BAD_LENGTH",
                        "cmfuzz #78: BAD_LENGTH",
                        "cmfuzz #81: not deliverable to queue pair 1");
    }

    @Test
    void everyIcrcVerifiesWithKnownAndUnknownIdentification() {
        int intact = 0;
        for (String file : Captures.FILES) {
            for (Captured captured : Captures.frames(file)) {
                Frame frame = captured.frame();
                int sent = frame.identification;
                boolean valid = !captured.toString().equals("inject #16");
                assertThat(icrc.verify(frame)).as("%s", captured).isEqualTo(valid);
                assertThat(icrc.recoverIdentification(frame))
                        .as("%s", captured)
                        .isEqualTo(valid && frame.isIpv4() ? sent : Icrc.NO_IDENTIFICATION);
                frame.identification = Frame.IDENTIFICATION_UNKNOWN;
                assertThat(icrc.verify(frame)).as("%s", captured).isEqualTo(valid);
                intact += valid ? 1 : 0;
            }
        }
        assertThat(intact).isEqualTo(838);
    }

    private List<String> faults(List<Captured> frames) {
        List<String> faults = new ArrayList<>();
        for (Captured captured : frames) {
            String fault = fault(captured);
            if (fault != null) {
                faults.add(captured + ": " + fault);
            }
        }
        return faults;
    }

    /** Returns the defect of a frame, or null. Even a defective frame must re-encode as far as it was read. */
    private @Nullable String fault(Captured captured) {
        Frame frame = captured.frame();
        Packet.Result result = packet.parse(frame);
        if (result != Packet.Result.OK) {
            return result.toString();
        }
        byte[] sent = captured.bytes();
        Frame again = new Frame();
        again.set(frame);
        byte[] bytes = new byte[sent.length];
        Arrays.fill(bytes, (byte) 0xa5);
        again.segment = MemorySegment.ofArray(bytes);
        again.buffer = ByteBuffer.wrap(bytes);
        again.offset = 0;
        int payload = reencodeHeaders(again.segment);
        String cmFault = reencodePayload(again.segment, payload);
        again.segment
                .asSlice(payload + packet.payloadLength(), packet.padCount())
                .fill((byte) 0);
        icrc.seal(again);
        int difference = Arrays.mismatch(sent, bytes);
        int padding = sent.length - Packet.ICRC_LENGTH - packet.padCount();
        if (difference >= sent.length - Packet.ICRC_LENGTH) {
            return "wrong ICRC";
        }
        if (difference >= padding) {
            return "nonzero padding";
        }
        return difference >= 0 ? "encodes differently from byte " + difference : cmFault;
    }

    /** Reads each header as a record, writes it, and returns the offset of the payload. */
    private int reencodeHeaders(MemorySegment to) {
        MemorySegment s = packet.segment();
        long from = packet.frame().offset;
        Opcode opcode = packet.opcode();
        Bth.parse(s, from).emit(to, 0);
        int at = Bth.LENGTH;
        if (opcode.hasDeth()) {
            Deth.parse(s, from + at).emit(to, at);
            at += Deth.LENGTH;
        }
        if (opcode.hasReth()) {
            Reth.parse(s, from + at).emit(to, at);
            at += Reth.LENGTH;
        }
        if (opcode.hasAtomicEth()) {
            AtomicEth.parse(s, from + at).emit(to, at);
            at += AtomicEth.LENGTH;
        }
        if (opcode.hasAeth()) {
            Aeth.parse(s, from + at).emit(to, at);
            at += Aeth.LENGTH;
        }
        if (opcode.hasAtomicAckEth()) {
            AtomicAckEth.parse(s, from + at).emit(to, at);
            at += AtomicAckEth.LENGTH;
        }
        if (opcode.hasImmediate()) {
            ImmDt.parse(s, from + at).emit(to, at);
            at += ImmDt.LENGTH;
        }
        if (opcode.hasIeth()) {
            Ieth.parse(s, from + at).emit(to, at);
            at += Ieth.LENGTH;
        }
        assertThat(at).isEqualTo(opcode.headerLength());
        return at;
    }

    /** Re-encodes the payload, a CM message through its records. Returns the defect of that message, or null. */
    private @Nullable String reencodePayload(MemorySegment to, int at) {
        MemorySegment s = packet.segment();
        long from = packet.payloadOffset();
        int length = packet.payloadLength();
        if (!GsiPacket.isGsi(packet)) {
            MemorySegment.copy(s, from, to, at, length);
            return null;
        }
        CmMessage message = CmMessage.parse(s, from, length);
        if (message == null) {
            MemorySegment.copy(s, from, to, at, length);
            return CmMad.check(s, from, length).toString();
        }
        MadHeader header = MadHeader.parse(s, from);
        boolean usual = header.equals(MadHeader.of(message.attribute(), header.transactionId(), 0));
        if (usual) {
            message.emit(to, at, header.transactionId());
        } else {
            header.emit(to, at);
            message.emitBody(to, at + MadHeader.LENGTH);
        }
        if (!GsiPacket.isDeliverable(packet)) {
            return "not deliverable to queue pair 1";
        }
        return usual ? ipCmFault(message) : "unusual MAD header";
    }

    private static @Nullable String ipCmFault(CmMessage message) {
        PrivateData data = switch (message) {
            case Req req -> req.privateData();
            case SidrReq request -> request.privateData();
            default -> null;
        };
        if (data == null) {
            return null;
        }
        IpCmHeader header = IpCmHeader.parse(data);
        if (header == null) {
            return "no IP-CM header in " + data.toString().substring(0, 4);
        }
        return header.with(data.from(IpCmHeader.LENGTH)).equals(data) ? null : "IP-CM header encodes differently";
    }
}

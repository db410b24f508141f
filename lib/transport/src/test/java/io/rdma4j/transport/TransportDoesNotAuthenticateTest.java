package io.rdma4j.transport;

import static org.assertj.core.api.Assertions.assertThat;

import io.rdma4j.wire.Bth;
import io.rdma4j.wire.Frame;
import io.rdma4j.wire.Icrc;
import io.rdma4j.wire.Opcode;
import io.rdma4j.wire.Packet;
import io.rdma4j.wire.Reth;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteBuffer;
import org.junit.jupiter.api.Test;

/** Shows that RoCEv2 does not authenticate packets; SECURITY.md describes the remedies. */
class TransportDoesNotAuthenticateTest extends ResponderFixture {
    private final Icrc icrc = new Icrc();

    private Frame frame(Pair.WirePacket packet) {
        Frame frame = new Frame();
        frame.segment = packet.segment();
        frame.buffer = ByteBuffer.wrap(packet.bytes());
        frame.length = packet.bytes().length;
        frame.sourceHigh = pair.a.high;
        frame.sourceLow = pair.a.low;
        frame.sourcePort = pair.a.udpPort;
        frame.destinationHigh = pair.b.high;
        frame.destinationLow = pair.b.low;
        return frame;
    }

    private static int payloadAt() {
        return Bth.LENGTH + Reth.LENGTH;
    }

    @Test
    void alteredPayloadWithAMatchingIcrcIsAccepted() {
        Pair.WirePacket packet = packet(Opcode.RC_WRITE_ONLY, PSN, 4, 4);
        Frame frame = frame(packet);
        packet.segment().set(ValueLayout.JAVA_BYTE, payloadAt(), (byte) 0x11);
        icrc.seal(frame);
        assertThat(icrc.verify(frame)).isTrue();

        // The ICRC detects corruption …
        packet.segment().set(ValueLayout.JAVA_BYTE, payloadAt(), (byte) 0x12);
        assertThat(icrc.verify(frame)).isFalse();
        // … but not a deliberate change: it involves no secret.
        icrc.seal(frame);
        assertThat(icrc.verify(frame)).isTrue();

        Packet parsed = new Packet();
        assertThat(parsed.parse(frame)).isEqualTo(Packet.Result.OK);
        pair.b.queuePair.onPacket(pair.now, parsed);
        MemorySegment written = remote.memory();
        assertThat(written.get(ValueLayout.JAVA_BYTE, 0)).isEqualTo((byte) 0x12);
    }
}

package io.rdma4j.transport;

import static org.assertj.core.api.Assertions.assertThat;

import io.rdma4j.value.SendOpcode;
import java.lang.foreign.MemorySegment;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** The send window assigns sequences, limits the bytes and READs in flight, and goes back to the oldest packet. */
class SendWindowTest {
    private static final int PSN = 1000;
    private static final int MTU = 1024;
    private static final int WINDOW_PACKETS = SendWindow.WINDOW_BYTES / MTU;

    private final SendWindow window = new SendWindow();

    @BeforeEach
    void start() {
        window.start(PSN, MTU);
        window.limitReads(2);
    }

    private SendRequest assigned(SendOpcode opcode, int packets) {
        SendRequest r = new SendRequest(1, MemorySegment.NULL);
        r.opcode = opcode;
        r.lengthBytes = (long) packets * MTU;
        window.assign(r, packets);
        return r;
    }

    private void send(SendRequest r, int packets) {
        for (int i = 0; i < packets; i++) {
            window.onSent(r, window.cursor() + 1);
        }
    }

    private void sendRead(SendRequest r) {
        window.onReadSent();
        window.onSent(r, window.partEnd(r, window.cursor()));
    }

    private void acknowledge(long to, @Nullable SendRequest oldest) {
        window.acknowledge(to);
        window.onAcknowledgedBytes(oldest);
    }

    @Test
    void workRequestsGetConsecutiveSequencesAndLocalOnesNone() {
        SendRequest first = assigned(SendOpcode.SEND, 3);
        SendRequest local = assigned(SendOpcode.LOCAL_INVALIDATE, 0);
        SendRequest last = assigned(SendOpcode.RDMA_READ, 2);
        assertThat(first.firstSequence).isEqualTo(PSN);
        assertThat(first.endSequence()).isEqualTo(PSN + 3);
        assertThat(local.firstSequence).isEqualTo(PSN + 3);
        assertThat(local.endSequence()).isEqualTo(PSN + 3);
        assertThat(last.firstSequence).isEqualTo(PSN + 3);
        assertThat(last.endSequence()).isEqualTo(PSN + 5);
    }

    @Test
    void windowIsFullAfterItsBytesAndHasRoomAgainAfterAnAcknowledgement() {
        SendRequest r = assigned(SendOpcode.SEND, 2 * WINDOW_PACKETS);
        send(r, WINDOW_PACKETS - 1);
        assertThat(window.hasRoom(r, window.cursor() + 1, false)).isTrue();
        assertThat(window.isNearlyFull()).isTrue();
        send(r, 1);
        assertThat(window.hasRoom(r, window.cursor() + 1, false)).isFalse();
        acknowledge(PSN + 1, r);
        assertThat(window.hasRoom(r, window.cursor() + 1, false)).isTrue();
    }

    @Test
    void shortPacketHasTheMinimumWeight() {
        SendRequest r = new SendRequest(1, MemorySegment.NULL);
        r.lengthBytes = 1;
        window.assign(r, 1);
        assertThat(r.endByte - r.firstByte).isEqualTo(SendWindow.MIN_PACKET_BYTES);
    }

    @Test
    void onlyOnePacketIsAllowedIfTheCallerRequestsThat() {
        SendRequest r = assigned(SendOpcode.SEND, 2);
        assertThat(window.hasRoom(r, PSN + 1, true)).isTrue();
        send(r, 1);
        assertThat(window.hasRoom(r, PSN + 2, true)).isFalse();
        assertThat(window.hasRoom(r, PSN + 2, false)).isTrue();
    }

    @Test
    void readsAreLimitedUntilTheLastPacketOfTheirResponse() {
        SendRequest a = assigned(SendOpcode.RDMA_READ, 2);
        SendRequest b = assigned(SendOpcode.FETCH_AND_ADD, 1);
        sendRead(a);
        assertThat(window.hasRoomForRead()).isTrue();
        sendRead(b);
        assertThat(window.hasRoomForRead()).isFalse();
        window.onReadResponse(a);
        acknowledge(PSN + 1, a);
        assertThat(window.hasRoomForRead()).isFalse();
        window.onReadResponse(a);
        acknowledge(PSN + 2, b);
        assertThat(window.hasRoomForRead()).isTrue();
        assertThat(window.hasReads()).isTrue();
        window.onReadResponse(b);
        acknowledge(PSN + 3, null);
        assertThat(window.hasReads()).isFalse();
    }

    @Test
    void repeatedRequestOfALongReadEndsAtTheSamePartBoundaries() {
        SendRequest r = assigned(SendOpcode.RDMA_READ, 2 * WINDOW_PACKETS + 1);
        assertThat(window.messageCount(r)).isEqualTo(3);
        assertThat(window.partEnd(r, PSN)).isEqualTo(PSN + WINDOW_PACKETS);
        assertThat(window.partEnd(r, PSN + 5)).isEqualTo(PSN + WINDOW_PACKETS);
        assertThat(window.partEnd(r, PSN + 2L * WINDOW_PACKETS)).isEqualTo(r.endSequence());
    }

    @Test
    void messagesAreCountedByKind() {
        assertThat(window.messageCount(assigned(SendOpcode.RDMA_WRITE, 500))).isEqualTo(1);
        assertThat(window.messageCount(assigned(SendOpcode.COMPARE_AND_SWAP, 1)))
                .isEqualTo(1);
        assertThat(window.messageCount(assigned(SendOpcode.BIND_MEMORY_WINDOW, 0)))
                .isZero();
    }

    @Test
    void rewindGoesBackToTheOldestPacketWithNoReadInFlight() {
        SendRequest a = assigned(SendOpcode.SEND, 2);
        SendRequest b = assigned(SendOpcode.RDMA_READ, 1);
        send(a, 2);
        assertThat(window.isFirstTransmission()).isTrue();
        sendRead(b);
        acknowledge(PSN + 1, a);
        window.rewind();
        assertThat(window.cursor()).isEqualTo(PSN + 1);
        assertThat(window.sentEnd()).isEqualTo(PSN + 3);
        assertThat(window.hasReads()).isFalse();
        assertThat(window.isRetransmitting()).isTrue();
        send(a, 1);
        assertThat(window.isFirstTransmission()).isFalse();
        sendRead(b);
        assertThat(window.isRetransmitting()).isFalse();
        assertThat(window.isAcknowledged()).isFalse();
        acknowledge(PSN + 3, null);
        assertThat(window.isAcknowledged()).isTrue();
    }

    @Test
    void acknowledgementOfPacketsSentBeforeGoingBackMovesTheCursor() {
        SendRequest r = assigned(SendOpcode.SEND, WINDOW_PACKETS + 4);
        send(r, 4);
        window.rewind();
        window.acknowledge(PSN + 3);
        window.onAcknowledgedBytes(r);
        assertThat(window.cursor()).isEqualTo(PSN + 3);
        assertThat(window.isInFlight()).isFalse();
        send(r, WINDOW_PACKETS);
        assertThat(window.hasRoom(r, window.cursor() + 1, false)).isFalse();
    }

    @Test
    void acknowledgementOfPacketsBehindTheCursorKeepsTheCursor() {
        SendRequest r = assigned(SendOpcode.SEND, 4);
        send(r, 4);
        window.acknowledge(PSN + 3);
        assertThat(window.cursor()).isEqualTo(PSN + 4);
        assertThat(window.isInFlight()).isTrue();
    }

    @Test
    void probeShrinksTheCongestionWindowOnlyIfItsResponseShowsALoss() {
        SendRequest r = assigned(SendOpcode.SEND, 4);
        send(r, 4);
        window.rewind();
        window.onProbeAcknowledged(PSN + 4);
        assertThat(window.windowPackets()).isEqualTo(WINDOW_PACKETS);
        window.onProbeAcknowledged(PSN + 2);
        assertThat(window.windowPackets()).isLessThan(WINDOW_PACKETS);
    }

    @Test
    void timeoutShrinksTheCongestionWindowToItsMinimum() {
        window.onTimeout();
        assertThat(window.windowPackets()).isEqualTo(CongestionWindow.MIN_PACKETS);
    }
}

package io.rdma4j.sockets.stream;

import static org.assertj.core.api.Assertions.assertThat;

import io.rdma4j.sockets.stream.StreamEnd.Posted;
import io.rdma4j.wire.rsocket.BufferDescriptor;
import io.rdma4j.wire.rsocket.ConnectData;
import io.rdma4j.wire.rsocket.ControlWord;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Tests of the stream protocol: buffers, credit and entries of the send queue. */
class StreamProtocolTest {
    private static final int RING = 8192;
    private static final StreamSizes SMALL = new StreamSizes(32, 20, 16_384, RING, 64, 4);

    // ---- connecting

    @Test
    void connectionDataOffersTheFirstHalfAndTheWholeReceiveQueue() {
        StreamEnd end = StreamEnd.alone(SMALL);
        ConnectData data = end.connectData();
        assertThat(data.credits()).isEqualTo(20);
        assertThat(data.mapping()).isTrue();
        assertThat(data.mappingEntries()).isEqualTo(4);
        assertThat(data.bigEndian()).isEqualTo(ByteOrder.nativeOrder() == ByteOrder.BIG_ENDIAN);
        assertThat(data.table()).isEqualTo(new BufferDescriptor(end.memory.tableAddress(), end.memory.tableKey(), 2));
        assertThat(data.buffer())
                .isEqualTo(new BufferDescriptor(end.memory.receiveAddress(), end.memory.receiveKey(), RING / 2));
    }

    @Test
    void nothingIsSentBeforeTheStart() {
        StreamPair pair = new StreamPair(SMALL, SMALL, true);
        pair.a.protocol.update();
        pair.a.protocol.keepAlive();
        assertThat(pair.a.posted).isEmpty();
    }

    @Test
    void endThatStartsAfterItsPeerSendsNothingBeforeTheFirstMessage() {
        StreamPair pair = new StreamPair(SMALL, SMALL, false);
        pair.b.protocol.startAfterPeer();
        pair.b.protocol.update();
        pair.b.protocol.keepAlive();
        assertThat(pair.b.protocol.canWrite()).isFalse();
        assertThat(pair.write(pair.b, 100)).isZero();
        assertThat(pair.b.posted).isEmpty();

        pair.a.protocol.start();
        pair.deliver();
        assertThat(pair.toA.offers).as("offer of the second half").hasSize(1);
        assertThat(pair.write(pair.b, 100)).isEqualTo(100);
        pair.deliver();
        assertThat(pair.read(pair.a, 200)).isEqualTo(100);
    }

    @Test
    void endThatStartsAfterItsPeerStartsImmediatelyIfAMessageHasArrivedBefore() {
        StreamPair pair = new StreamPair(SMALL, SMALL, false);
        pair.a.protocol.start();
        pair.deliver();
        assertThat(pair.toA.offers).isEmpty();
        pair.b.protocol.startAfterPeer();
        pair.deliver();
        assertThat(pair.toA.offers).as("offer of the second half").hasSize(1);
    }

    @Test
    void endThatStartsAfterItsPeerDisconnectsWhenTheFirstMessageArrives() {
        StreamPair pair = new StreamPair(SMALL, SMALL, false);
        pair.b.protocol.startAfterPeer();
        pair.b.protocol.disconnect();
        assertThat(pair.b.posted).isEmpty();
        assertThat(pair.b.protocol.isQuiet()).isFalse();

        pair.a.protocol.start();
        pair.deliver();
        assertThat(pair.b.protocol.isQuiet()).isTrue();
        assertThat(pair.a.protocol.isInputEnded()).isTrue();
        assertThat(pair.a.protocol.failure()).isNull();
    }

    @Test
    void endThatStartsAfterItsPeerIsQuietIfThePeerDisconnectsBefore() {
        StreamPair pair = new StreamPair(SMALL, SMALL, false);
        pair.b.protocol.startAfterPeer();
        pair.b.protocol.disconnect();
        pair.b.protocol.onDisconnected();
        assertThat(pair.b.protocol.isQuiet()).isTrue();
    }

    @Test
    void theFirstBufferUpdateGoesToEntryOne() {
        StreamPair pair = new StreamPair(SMALL, SMALL, true);
        pair.a.protocol.start();
        Posted first = pair.a.takePosted();
        assertThat(pair.a.posted).isEmpty();
        assertThat(first.remoteAddress()).isEqualTo(pair.b.memory.tableAddress() + BufferDescriptor.LENGTH);
        assertThat(first.remoteKey()).isEqualTo(pair.b.memory.tableKey());
        assertThat(first.descriptor(ByteOrder.nativeOrder()))
                .isEqualTo(new BufferDescriptor(
                        pair.a.memory.receiveAddress() + RING / 2, pair.a.memory.receiveKey(), RING / 2));
        assertThat(first.isCredit()).isTrue();
        assertThat(first.value()).as("as many messages as there are receives").isEqualTo(20);
    }

    @ParameterizedTest
    @CsvSource({"1, 0 0 0 0", "2, 1 0 1 0", "3, 1 2 0 1"})
    void updatesUseThePeersTableInTurn(int entries, String expected) {
        StreamEnd end = StreamEnd.alone(SMALL);
        ConnectData connectData = end.connectData();
        BufferDescriptor table = new BufferDescriptor(0x5000, 7, entries);
        assertThat(end.protocol.onPeer(
                        new ConnectData(connectData.bigEndian(), true, 50, 0, table, connectData.buffer())))
                .isTrue();
        end.protocol.start();
        StringBuilder updates = new StringBuilder();
        for (int half = 0; half < 4; half++) {
            Posted update = Objects.requireNonNull(end.completeAll());
            assertThat(update.remoteKey()).isEqualTo(7);
            updates.append(updates.isEmpty() ? "" : " ").append((update.remoteAddress() - 0x5000) / 16);
            end.data(new byte[RING / 2], half % 2 * RING / 2);
            end.read(RING / 2);
        }
        assertThat(updates).hasToString(expected);
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void entriesOfThePeersTableAreInThePeersByteOrder(boolean bigEndian) {
        StreamEnd end = StreamEnd.alone(SMALL);
        ConnectData connectData = end.connectData();
        end.protocol.onPeer(new ConnectData(bigEndian, true, 50, 1, connectData.table(), connectData.buffer()));
        end.protocol.start();
        ByteOrder order = bigEndian ? ByteOrder.BIG_ENDIAN : ByteOrder.LITTLE_ENDIAN;
        assertThat(end.takePosted().descriptor(order).address()).isEqualTo(end.memory.receiveAddress() + RING / 2);
    }

    @Test
    void entriesOfThePeerAreInTheByteOrderOfThisHost() {
        StreamEnd end = StreamEnd.alone(SMALL);
        ConnectData connectData = end.connectData();
        BufferDescriptor first = new BufferDescriptor(0x1000, 5, 100);
        boolean other = !connectData.bigEndian();
        end.protocol.onPeer(new ConnectData(other, true, 50, 0, connectData.table(), first));
        end.protocol.start();
        end.completeAll();
        end.offer(1, new BufferDescriptor(0x9000, 6, 100), 50);
        assertThat(end.write(new byte[150])).isEqualTo(150);
        assertThat(end.takePosted().remoteAddress()).isEqualTo(0x1000);
        Posted second = end.takePosted();
        assertThat(second.remoteAddress()).isEqualTo(0x9000);
        assertThat(second.remoteKey()).isEqualTo(6);
        assertThat(second.value()).isEqualTo(50);
    }

    // ---- data

    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void bytesArriveInOrderInBothDirectionsWithAnyTiming(boolean hasImmediate) {
        for (long seed = 0; seed < 30; seed++) {
            StreamPair.started(SMALL, hasImmediate).exchange(60_000, 6_000, new SplittableRandom(seed));
        }
    }

    @ParameterizedTest
    @CsvSource({
        "16, 16, 2048, 2", // the minimum sizes
        "16, 16, 2048, 4096",
        "65534, 16, 2048, 1000",
        "16, 65534, 100000, 262144",
        "65534, 65534, 131072, 131072"
    })
    void everySizeWorks(int sendQueue, int receiveQueue, int sendBuffer, int receiveBuffer) {
        StreamSizes sizes = new StreamSizes(sendQueue, receiveQueue, sendBuffer, receiveBuffer, 64, 0);
        for (boolean hasImmediate : new boolean[] {true, false}) {
            StreamPair.started(sizes, hasImmediate)
                    .exchange(Math.min(500_000, receiveBuffer * 20L), 70_000, new SplittableRandom(1));
        }
    }

    @Test
    void endsOfDifferentSizesInteroperate() {
        StreamSizes large = new StreamSizes(384, 384, 131_072, 131_072, 64, 0);
        StreamSizes tiny = new StreamSizes(16, 16, 2_048, 6, 0, 0);
        StreamPair pair = new StreamPair(large, tiny, true);
        pair.a.protocol.start();
        pair.b.protocol.start();
        pair.exchange(30_000, 500, new SplittableRandom(4));
    }

    @Test
    void transfersHaveTheMaximumSizeOfC() {
        StreamSizes sizes = new StreamSizes(64, 64, 1 << 20, 1 << 20, 64, 0);
        StreamPair pair = StreamPair.started(sizes, true);
        assertThat(pair.write(pair.a, 300_000)).isEqualTo(300_000);
        assertThat(pair.a.posted.stream().map(Posted::value)).containsExactly(65_536, 65_536, 65_536, 65_536, 37_856);
        pair.deliver();
        assertThat(pair.read(pair.b, 300_000)).isEqualTo(300_000);
    }

    @Test
    void transferEndsAtTheEndOfABuffer() {
        StreamPair pair = StreamPair.started(SMALL, true);
        pair.write(pair.a, 2000);
        pair.write(pair.a, 2000);
        pair.write(pair.a, 2000);
        assertThat(pair.a.posted.stream().map(Posted::value)).containsExactly(2000, 2000, 96, 1904);
    }

    @Test
    void theSecondBufferIsUsedOnlyWhenTheFirstIsFull() {
        StreamPair pair = StreamPair.started(SMALL, true);
        pair.write(pair.a, RING);
        long at = pair.b.memory.receiveAddress();
        for (Posted request : pair.a.posted) {
            assertThat(request.remoteAddress()).isEqualTo(at);
            at += request.value();
        }
        assertThat(at).isEqualTo(pair.b.memory.receiveAddress() + RING);
    }

    @Test
    void halvesAreOfferedAlternatelyAndOnlyWhenTheyAreRead() {
        StreamPair pair = StreamPair.started(SMALL, true);
        pair.toA.offers.clear();
        for (int half = 0; half < 7; half++) {
            assertThat(pair.write(pair.a, RING / 2)).isEqualTo(RING / 2);
            pair.deliver();
            pair.read(pair.b, RING / 2 - 1);
            pair.deliver();
            assertThat(pair.toA.offers).hasSize(half);
            pair.read(pair.b, 1);
            pair.deliver();
            assertThat(pair.toA.offers).hasSize(half + 1);
            Posted offer = pair.toA.offers.get(half);
            assertThat(offer.descriptor(ByteOrder.nativeOrder()).address())
                    .isEqualTo(pair.b.memory.receiveAddress() + half % 2L * RING / 2);
            assertThat(offer.remoteAddress()).isEqualTo(pair.a.memory.tableAddress() + half % 2L * 16);
        }
    }

    /** Without immediate data, a control word does not reveal whether a buffer was written. */
    @Test
    void bufferIsAcceptedOnceDespiteLaterWords() {
        StreamEnd end = new StreamEnd(SMALL, false, 1);
        ConnectData connectData = end.connectData();
        end.protocol.onPeer(new ConnectData(
                connectData.bigEndian(), true, 50, 0, connectData.table(), new BufferDescriptor(0, 5, 10)));
        end.protocol.start();
        end.completeAll();
        for (int round = 0; round < 4; round++) {
            end.offer((round + 1) % 2, new BufferDescriptor(1000L * round, 5, 10), 50);
            end.word(ControlWord.CREDIT, 51 + round, 0);
            assertThat(end.write(new byte[30]))
                    .as("remaining bytes of two buffers")
                    .isEqualTo(round == 0 ? 20 : 10);
            end.completeAll();
            end.word(ControlWord.CREDIT, 52 + round, 0);
            assertThat(end.write(new byte[30])).isZero();
        }
        assertThat(end.protocol.failure()).isNull();
    }

    @Test
    void peekingConsumesAndGrantsNothing() {
        StreamPair pair = StreamPair.started(SMALL, true);
        pair.write(pair.a, 5000);
        pair.deliver();
        for (int i = 0; i < 3; i++) {
            ByteBuffer seen = ByteBuffer.allocate(6000);
            assertThat(pair.b.protocol.peek(seen)).isEqualTo(5000);
            assertThat(seen.flip()).isEqualTo(ByteBuffer.wrap(StreamPair.bytesAt(0, 5000)));
        }
        pair.b.protocol.update();
        assertThat(pair.b.posted).isEmpty();
        assertThat(pair.b.protocol.availableBytes()).isEqualTo(5000);
        assertThat(pair.read(pair.b, 6000)).isEqualTo(5000);
    }

    @Test
    void directAndReadOnlyBuffersAreSupported() {
        StreamPair pair = StreamPair.started(SMALL, true);
        ByteBuffer source = ByteBuffer.allocateDirect(3000)
                .put(100, StreamPair.bytesAt(0, 2000))
                .position(100);
        assertThat(pair.a.protocol.write(source.limit(2100).asReadOnlyBuffer())).isEqualTo(2000);
        pair.deliver();
        ByteBuffer target = ByteBuffer.allocateDirect(2010).position(10);
        assertThat(pair.b.protocol.read(target)).isEqualTo(2000);
        assertThat(target.flip().position(10).slice()).isEqualTo(ByteBuffer.wrap(StreamPair.bytesAt(0, 2000)));
    }

    // ---- credits

    @ParameterizedTest
    @ValueSource(ints = {16, 17, 384})
    void outstandingMessagesAreLimitedByThePeersReceives(int receiveQueue) {
        StreamSizes sizes = new StreamSizes(1000, receiveQueue, 16_384, RING, 64, 0);
        StreamPair pair = StreamPair.started(sizes, true);
        int sent = 0;
        while (pair.write(pair.a, 1) == 1) {
            sent++;
            pair.deliver();
        }
        assertThat(sent).isEqualTo(receiveQueue);
        assertThat(pair.a.protocol.canWrite()).isFalse();
        assertThat(pair.b.protocol.availableBytes()).isEqualTo(receiveQueue);
        assertThat(pair.b.protocol.failure()).isNull();
        pair.read(pair.b, receiveQueue);
        pair.deliver();
        assertThat(pair.write(pair.a, 1)).isOne();
    }

    /** On iWARP, the connection ends when a message finds no receive, and credit does not cover control words. */
    @ParameterizedTest
    @ValueSource(longs = {1, 2, 3, 4, 5, 6, 7, 8})
    void wordsThatOneSideDoesNotReceiveAreLimitedByItsReceives(long seed) {
        SplittableRandom random = new SplittableRandom(seed);
        StreamSizes sizes = new StreamSizes(1000, random.nextInt(16, 40), 1 << 20, RING, 64, 4);
        StreamPair pair = new StreamPair(sizes, sizes, false);
        pair.a.protocol.start();
        pair.b.protocol.start();
        ArrayDeque<Posted> unseen = new ArrayDeque<>();
        int most = sizes.receiveQueue() + StreamProtocol.CONTROL_RECEIVES;
        for (int round = 0; round < 1000; round++) {
            if (random.nextInt(4) == 0) {
                unseen.forEach(word -> receive(pair.a, word));
                unseen.clear();
            }
            use(pair.a, random);
            for (Posted request : sentBy(pair.a)) {
                receive(pair.b, request);
                use(pair.b, random);
            }
            sentBy(pair.b).forEach(request -> {
                pair.a.store(request.bytes(), request.remoteAddress(), request.remoteKey());
                if (request.word() != null) {
                    unseen.add(request);
                }
            });
            assertThat(unseen.size()).isLessThanOrEqualTo(most);
        }
        pair.b.protocol.shutdownOutput();
        pair.b.protocol.disconnect();
        long words = sentBy(pair.b).stream()
                .filter(request -> request.word() != null)
                .count();
        assertThat(words + unseen.size()).isLessThanOrEqualTo(most);
    }

    /** Writes and reads at random. */
    private static void use(StreamEnd end, SplittableRandom random) {
        int length = random.nextInt(1, 400);
        for (int i = random.nextInt(50); i > 0; i--) {
            end.protocol.write(ByteBuffer.allocate(length));
        }
        end.protocol.read(ByteBuffer.allocate(random.nextInt(1, RING)));
    }

    /** Returns the requests that an end has sent, after the transport has delivered all of them. */
    private static List<Posted> sentBy(StreamEnd end) {
        List<Posted> sent = new ArrayList<>();
        while (!end.posted.isEmpty()) {
            sent.add(end.takePosted());
            end.complete();
        }
        return sent;
    }

    private static void receive(StreamEnd end, Posted request) {
        end.store(request.bytes(), request.remoteAddress(), request.remoteKey());
        if (request.word() != null) {
            end.word(request.kind(), request.value(), request.bytes().length);
        }
    }

    @Test
    void creditIsGrantedWhenHalfOfTheReceivesAreUsed() {
        StreamPair pair = StreamPair.started(SMALL, true);
        for (int i = 0; i < 15; i++) {
            pair.write(pair.a, 10);
        }
        pair.deliver();
        pair.toA.offers.clear();
        pair.read(pair.b, 99);
        assertThat(pair.toA.offers)
                .as("nine messages and a part of the tenth were read")
                .isEmpty();
        pair.read(pair.b, 1);
        assertThat(pair.toA.offers).hasSize(1);
        Posted credit = pair.toA.offers.getFirst();
        assertThat(credit.bytes()).isEmpty();
        assertThat(credit.value()).as("ten read messages and twenty more").isEqualTo(30);
    }

    @ParameterizedTest
    @CsvSource({"16, true", "16, false", "384, true", "65534, true"})
    void sequenceNumbersWrap(int receiveQueue, boolean hasImmediate) {
        StreamSizes sizes = new StreamSizes(receiveQueue, receiveQueue, 131_072, 262_144, 64, 0);
        StreamPair pair = StreamPair.started(sizes, hasImmediate);
        SplittableRandom random = new SplittableRandom(receiveQueue);
        for (int round = 0; pair.toB.messages() < 150_000; round++) {
            assertThat(round)
                    .as("rounds that brought %d messages", pair.toB.messages())
                    .isLessThan(100_000);
            int writes = random.nextInt(1, receiveQueue);
            while (writes-- > 0 && pair.write(pair.a, 1) == 1) {
                assertThat(pair.a.protocol.failure()).isNull();
            }
            pair.deliver();
            pair.read(pair.b, random.nextInt(1, 2 * receiveQueue));
        }
        assertThat(pair.b.protocol.failure()).isNull();
    }

    @Test
    void creditDelayedByAFullSendQueueIsSentLater() {
        StreamPair pair = StreamPair.started(SMALL, true);
        for (int i = 0; i < 4; i++) {
            pair.b.protocol.keepAlive();
        }
        pair.write(pair.a, RING);
        while (pair.deliverOne(pair.a)) {
            assertThat(pair.completeOne(pair.a)).isTrue();
        }
        pair.read(pair.b, RING);
        assertThat(pair.b.posted).as("all four entries are used").hasSize(4);
        pair.deliver();
        assertThat(pair.write(pair.a, RING)).as("both halves were offered").isEqualTo(RING);
    }

    // ---- entries of the send queue

    @Test
    void fourEntriesAreReservedForControlMessages() {
        StreamPair pair = StreamPair.started(new StreamSizes(32, 100, 16_384, RING, 64, 0), true);
        int sent = 0;
        while (pair.write(pair.a, 1) == 1) {
            sent++;
        }
        assertThat(sent).isEqualTo(28);
        pair.a.protocol.shutdownOutput();
        assertThat(pair.a.posted).hasSize(29);
    }

    @Test
    void messageWithoutImmediateDataTakesTwoEntries() {
        StreamPair pair = StreamPair.started(new StreamSizes(33, 100, 16_384, RING, 64, 0), false);
        int sent = 0;
        while (pair.write(pair.a, 1) == 1) {
            sent++;
        }
        assertThat(sent).isEqualTo(14);
        assertThat(pair.a.posted.stream().map(Posted::isSend).distinct()).containsExactly(false, true);
    }

    @Test
    void nothingIsSentWhileTheSendBufferIsNearlyFull() {
        StreamSizes sizes = new StreamSizes(32, 32, 5000, 65_536, 64, 0);
        StreamPair pair = StreamPair.started(sizes, true);
        assertThat(pair.write(pair.a, 2048)).isEqualTo(2048);
        assertThat(pair.write(pair.a, 20_000)).as("all remaining bytes").isEqualTo(2952);
        assertThat(pair.a.protocol.canWrite()).isFalse();
        pair.deliverOne(pair.a);
        assertThat(pair.a.protocol.canWrite()).as("delivered, not acknowledged").isFalse();
        pair.completeOne(pair.a);
        assertThat(pair.a.protocol.canWrite()).as("2048 are free").isTrue();
        pair.write(pair.a, 1);
        assertThat(pair.a.protocol.canWrite()).as("2047 are free").isFalse();
    }

    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void keepAliveIsAnEmptyWriteThatThePeerDoesNotNotice(boolean hasImmediate) {
        StreamPair pair = StreamPair.started(SMALL, hasImmediate);
        for (int i = 0; i < 10; i++) {
            pair.a.protocol.keepAlive();
        }
        assertThat(pair.a.posted).as("four at a time").hasSize(4);
        for (Posted request : pair.a.posted) {
            assertThat(request.word()).isNull();
            assertThat(request.bytes()).isEmpty();
        }
        assertThat(pair.a.protocol.isQuiet()).isFalse();
        pair.deliver();
        assertThat(pair.a.protocol.isQuiet()).isTrue();
        assertThat(pair.write(pair.a, 1)).isOne();
    }

    @Test
    void keepAliveOfThePeerHasNoEffect() {
        StreamPair pair = StreamPair.started(SMALL, true);
        pair.b.word(ControlWord.CONTROL, ControlWord.KEEPALIVE, 0);
        assertThat(pair.b.protocol.isOpen()).isTrue();
        assertThat(pair.b.protocol.isInputEnded()).isFalse();
        assertThat(pair.b.posted).isEmpty();
    }

    // ---- rings

    @Test
    void ringMayHaveTheMaximumSize() {
        int size = Integer.MAX_VALUE;
        for (int at : List.of(0, 1, size / 2, size - 2, size - 1)) {
            for (int length : List.of(0, 1, size - at, size - 1, size)) {
                assertThat(Ring.advance(at, length, size)).isEqualTo((int) (((long) at + length) % size));
            }
        }
    }

    @Test
    void sizesAreLimitedByTheDeviceAndTheWireFormat() {
        StreamSizes wanted = new StreamSizes(1000, 20, 5000, 4097, 64, 200);
        assertThat(wanted.fitted(500)).isEqualTo(new StreamSizes(500, 20, 5000, 4096, 64, 256));
        assertThat(wanted.fitted(Integer.MAX_VALUE).sendQueue()).isEqualTo(1000);
    }
}

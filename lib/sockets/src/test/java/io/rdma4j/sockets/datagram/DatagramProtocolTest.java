package io.rdma4j.sockets.datagram;

import static org.assertj.core.api.Assertions.assertThat;

import io.rdma4j.wire.rsocket.CompanionHeader;
import io.rdma4j.wire.rsocket.DatagramHeader;
import java.nio.ByteBuffer;
import java.util.HashSet;
import java.util.Random;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Tests of the datagram protocol, packet by packet. */
class DatagramProtocolTest {
    private static final byte[] DATA = {1, 2, 3};

    private final DatagramSide a = new DatagramSide(DatagramSide.ipv4(1, 1000), 0x10);
    private final DatagramSide b = new DatagramSide(DatagramSide.ipv4(2, 2000), 0x20);

    /** Exchanges the queue pairs: one question, one answer. */
    private void introduce() {
        a.send(DATA, b.address, 0);
        b.onMessage(a.messages.remove(), 0);
        a.onMessage(b.messages.remove(), 0);
        assertThat(b.receive()).isEqualTo(DATA);
    }

    private void transfer(long now) {
        assertThat(a.send(DATA, b.address, now)).isTrue();
        b.onPacket(a.takePacket(), now);
        assertThat(b.receive()).isEqualTo(DATA);
    }

    private static void drain(DatagramSide side) {
        byte[] received;
        do {
            received = side.receive();
        } while (received != null);
    }

    private static ByteBuffer message(int operation, DatagramSide from, int number, byte... data) {
        ByteBuffer out = ByteBuffer.allocate(CompanionHeader.IPV4_LENGTH + data.length);
        new CompanionHeader(operation, number, from.address.high(), from.address.low()).write(out);
        return out.put(data).flip();
    }

    private static byte[] packet(DatagramAddress from, byte... data) {
        DatagramHeader header = new DatagramHeader(from.port(), 0, from.high(), from.low());
        ByteBuffer out = ByteBuffer.allocate(header.length() + data.length);
        header.write(out, 0);
        return out.put(header.length(), data).array();
    }

    @Test
    void firstDatagramAsksAndTheNextGoesFromQueuePairToQueuePair() {
        introduce();
        transfer(1);
        assertThat(a.messages).isEmpty();
        assertThat(a.protocol.questions()).isEqualTo(1);
    }

    @Test
    void askedSocketKnowsTheQueuePairOfTheAsker() {
        introduce();
        assertThat(b.send(DATA, a.address, 1)).isTrue();
        assertThat(b.messages).isEmpty();
        a.onPacket(b.takePacket(), 1);
        assertThat(a.receive()).isEqualTo(DATA);
    }

    /** The answer has arrived at the UDP socket, but was not read yet. */
    @Test
    void datagramIsAcceptedIfTheAnswerIsPendingAtTheUdpSocket() {
        a.send(DATA, b.address, 0);
        b.onMessage(a.messages.remove(), 0);
        b.send(DATA, a.address, 0);
        a.unread.add(b.messages.remove());
        a.onPacket(b.takePacket(), 0);
        assertThat(a.receive()).isEqualTo(DATA);
        transfer(1);
    }

    /** Before a peer has answered, another queue pair sends datagrams with the peer's address. */
    @Test
    void onlyTheAnswerSetsTheQueuePairOfAPeer() {
        a.send(DATA, b.address, 0);
        a.onPacket(packet(b.address, DATA), b.address, 0x666, 0);
        assertThat(a.receive()).isNull();
        assertThat(a.protocol.dropped(Drop.UNKNOWN_SENDER)).isEqualTo(1);
        assertThat(a.receives).as("the slot is free again").hasSize(DatagramSide.SLOTS);
        b.onMessage(a.messages.remove(), 0);
        a.onMessage(b.messages.remove(), 0);
        a.send(DATA, b.address, 1);
        assertThat(a.takePacket().queuePairNumber()).isEqualTo(b.queuePairNumber);
    }

    /** The same applies while a known peer is asked again. */
    @Test
    void peerAskedAgainKeepsItsQueuePairUntilItAnswers() {
        introduce();
        a.send(DATA, b.address, DatagramProtocol.CONFIRM_NANOS);
        a.onPacket(packet(b.address, DATA), b.address, 0x666, DatagramProtocol.CONFIRM_NANOS);
        assertThat(a.receive()).isNull();
        a.send(DATA, b.address, DatagramProtocol.CONFIRM_NANOS + 1);
        assertThat(a.takePacket().queuePairNumber()).isEqualTo(b.queuePairNumber);
    }

    @Test
    void everyDatagramAsksUntilAnAnswerArrives() {
        for (int i = 0; i < 3; i++) {
            a.send(DATA, b.address, i);
        }
        assertThat(a.messages).hasSize(3);
        assertThat(a.packets).isEmpty();
    }

    @Test
    void silentPeerIsAskedAgainButNotByEveryDatagram() {
        introduce();
        long later = DatagramProtocol.CONFIRM_NANOS;
        a.send(DATA, b.address, later);
        assertThat(a.messages).hasSize(1);
        transfer(later + 1);
        a.send(DATA, b.address, 2 * later);
        assertThat(a.messages).hasSize(2);
    }

    @Test
    void restartedPeerIsFoundByAsking() {
        introduce();
        DatagramSide second = new DatagramSide(b.address, 0x21);
        long later = DatagramProtocol.CONFIRM_NANOS;
        a.send(DATA, b.address, later);
        second.onMessage(a.messages.remove(), later);
        a.onMessage(second.messages.remove(), later);
        assertThat(a.send(DATA, b.address, later + 1)).isTrue();
        assertThat(a.takePacket().queuePairNumber()).isEqualTo(0x21);
    }

    @Test
    void datagramLongerThanThePathMtuGoesOverUdp() {
        introduce();
        a.pathBytes = 1024;
        byte[] longest = new byte[2032];
        assertThat(a.send(longest, b.address, 1)).isTrue();
        b.onMessage(a.messages.remove(), 1);
        assertThat(b.receive()).isEqualTo(longest);
        transfer(2);
    }

    @Test
    void withoutAFreeSlotNothingIsSent() {
        introduce();
        for (int i = 0; i < DatagramSide.SLOTS; i++) {
            assertThat(a.protocol.canSend()).isTrue();
            assertThat(a.send(DATA, b.address, 1)).isTrue();
        }
        ByteBuffer data = ByteBuffer.wrap(DATA);
        assertThat(a.protocol.send(data, b.address, 1)).isFalse();
        assertThat(data.remaining()).isEqualTo(DATA.length);
        assertThat(a.protocol.canSend()).isFalse();
        a.takePacket();
        assertThat(a.protocol.send(data, b.address, 1)).isTrue();
        assertThat(a.protocol.isQuiet()).isFalse();
        while (!a.packets.isEmpty()) {
            a.takePacket();
        }
        assertThat(a.protocol.isQuiet()).isTrue();
    }

    @Test
    void slotIsPostedAgainWhenItsDatagramIsReceived() {
        introduce();
        a.send(DATA, b.address, 1);
        b.onPacket(a.takePacket(), 1);
        assertThat(b.receives).hasSize(DatagramSide.SLOTS - 1);
        assertThat(b.protocol.receive(ByteBuffer.allocate(2), true)).isEqualTo(a.address);
        assertThat(b.receives).hasSize(DatagramSide.SLOTS - 1);
        assertThat(b.receive()).isEqualTo(DATA);
        assertThat(b.receives).hasSize(DatagramSide.SLOTS);
    }

    @Test
    void queueOfDatagramsOverUdpIsBounded() {
        for (int i = 0; i < 10; i++) {
            b.protocol.onCompanion(a.address, message(CompanionHeader.DATA, a, 0x10, DATA), 0);
        }
        assertThat(b.protocol.dropped(Drop.NO_ROOM)).isEqualTo(10 - DatagramSide.SLOTS);
        assertThat(b.messages).hasSize(10);
    }

    @Test
    void questionsDoNotDisplaceRecipients() {
        introduce();
        for (int i = 0; i < 100_000; i++) {
            DatagramAddress stranger = DatagramSide.ipv4(3, 1 + i % 65_535);
            a.protocol.onCompanion(stranger, message(CompanionHeader.DATA, b, 2 + i), 1);
        }
        assertThat(a.protocol.peerCount()).isEqualTo(DatagramProtocol.MAX_PEERS + 1);
        transfer(2);
    }

    /** One host sends questions from all its ports, while a peer on another host only sends datagrams. */
    @Test
    void floodOfQuestionsFromOneHostDoesNotMakeASenderUnknown() {
        introduce();
        for (int i = 0; i < 3 * DatagramProtocol.MAX_PEERS; i++) {
            b.protocol.onCompanion(DatagramSide.ipv4(3, 1 + i), message(CompanionHeader.DATA, a, 2 + i), 1);
            if (i % 1000 == 0) {
                drain(b);
                transfer(1);
            }
        }
        drain(b);
        transfer(2);
        assertThat(b.protocol.dropped(Drop.UNKNOWN_SENDER)).isZero();
        assertThat(b.protocol.peerCount()).isLessThanOrEqualTo(DatagramProtocol.MAX_PEERS + 1);
    }

    /** The share of its host protects a peer that has not yet sent from its queue pair. */
    @Test
    void floodOfQuestionsFromOneHostLeavesTheQuestionOfAnotherHostKnown() {
        a.send(DATA, b.address, 0);
        b.onMessage(a.messages.remove(), 0);
        a.onMessage(b.messages.remove(), 0);
        b.receive();
        for (int i = 0; i < 3 * DatagramProtocol.MAX_PEERS; i++) {
            b.protocol.onCompanion(DatagramSide.ipv4(3, 1 + i), message(CompanionHeader.DATA, a, 2 + i), 1);
        }
        drain(b);
        transfer(2);
    }

    /** The flood has the address of the sender: another port of the same host, or of a host behind the same NAT. */
    @Test
    void floodOfQuestionsFromItsOwnHostDoesNotMakeASenderUnknown() {
        introduce();
        transfer(1);
        for (int i = 0; i < 3 * DatagramProtocol.MAX_PEERS; i++) {
            b.protocol.onCompanion(DatagramSide.ipv4(1, 2000 + i), message(CompanionHeader.DATA, a, 2 + i), 1);
        }
        drain(b);
        transfer(2);
    }

    /** The application sends to all peers, since it answers them. */
    @Test
    void answeringAFloodFromOneHostDoesNotMakeAPeerUnknown() {
        introduce();
        assertThat(b.send(DATA, a.address, 1)).isTrue();
        b.takePacket();
        for (int i = 0; i < 3 * DatagramProtocol.MAX_PEERS; i++) {
            DatagramAddress stranger = DatagramSide.ipv4(3, 1 + i);
            b.protocol.onCompanion(stranger, message(CompanionHeader.DATA, a, 2 + i), 1);
            b.send(DATA, stranger, 1);
            if (!b.packets.isEmpty()) {
                b.takePacket();
            }
            b.receive();
        }
        transfer(2);
        assertThat(b.closedPaths).doesNotContain(a.address);
    }

    @Test
    void leastRecentlyUsedRecipientIsRemovedWithItsPath() {
        introduce();
        transfer(1);
        for (int i = 0; i < DatagramProtocol.MAX_PEERS; i++) {
            a.send(DATA, DatagramSide.ipv4(2, 10_000 + i), 2);
        }
        assertThat(a.protocol.peerCount()).isEqualTo(DatagramProtocol.MAX_PEERS);
        assertThat(a.closedPaths).containsExactly(b.address);
    }

    @Test
    void answerWithoutQuestionIsIgnored() {
        a.protocol.onCompanion(b.address, message(CompanionHeader.CONTROL, b, 0x666), 0);
        introduce();
        a.protocol.onCompanion(b.address, message(CompanionHeader.CONTROL, b, 0x666), 1);
        assertThat(a.protocol.dropped(Drop.UNSOLICITED)).isEqualTo(2);
        a.send(DATA, b.address, 1);
        assertThat(a.takePacket().queuePairNumber()).isEqualTo(b.queuePairNumber);
    }

    @Test
    void datagramOfAnotherQueuePairIsDropped() {
        introduce();
        b.onPacket(packet(a.address, DATA), a.address, 0x11, 1);
        b.onPacket(packet(DatagramSide.ipv4(1, 1001), DATA), a.address, 0x10, 1);
        assertThat(b.protocol.dropped(Drop.UNKNOWN_SENDER)).isEqualTo(2);
        assertThat(b.receive()).isNull();
        assertThat(b.receives).hasSize(DatagramSide.SLOTS);
    }

    @Test
    void headerWithAnotherAddressThanItsPacketIsForged() {
        introduce();
        b.onPacket(packet(a.address, DATA), DatagramSide.ipv4(9, 1), 0x10, 1);
        assertThat(b.protocol.dropped(Drop.FORGED)).isEqualTo(1);
        assertThat(b.receive()).isNull();
    }

    @ParameterizedTest
    @ValueSource(ints = {0, 1, 0xff_ffff})
    void invalidQueuePairNumbersAreRejected(int number) {
        a.protocol.onCompanion(b.address, message(CompanionHeader.DATA, b, number, DATA), 0);
        assertThat(a.protocol.dropped(Drop.MALFORMED)).isEqualTo(1);
        assertThat(a.messages).isEmpty();
    }

    @Test
    void answerIsNeverLongerThanTheQuestion() {
        ByteBuffer question = message(CompanionHeader.DATA, a, 0x10);
        int length = question.remaining();
        b.protocol.onCompanion(a.address, question, 0);
        assertThat(b.messages.remove().bytes()).hasSizeLessThanOrEqualTo(length);
        assertThat(b.receive()).isEmpty();
    }

    @Test
    void connectedSocketReceivesOnlyFromItsPeer() {
        introduce();
        b.protocol.connect(DatagramSide.ipv4(7, 7));
        a.send(DATA, b.address, 1);
        b.onPacket(a.takePacket(), 1);
        b.protocol.onCompanion(a.address, message(CompanionHeader.DATA, a, 0x10, DATA), 1);
        assertThat(b.protocol.dropped(Drop.FOREIGN)).isEqualTo(2);
        assertThat(b.receive()).isNull();
        assertThat(b.receives).hasSize(DatagramSide.SLOTS);
        b.protocol.connect(a.address);
        transfer(2);
    }

    @Test
    void connectingDropsQueuedDatagramsOfOthers() {
        introduce();
        DatagramSide stranger = new DatagramSide(DatagramSide.ipv4(3, 3000), 0x30);
        a.send(DATA, b.address, 1);
        b.onPacket(a.takePacket(), 1);
        for (int i = 0; i < DatagramSide.SLOTS; i++) {
            b.protocol.onCompanion(stranger.address, message(CompanionHeader.DATA, stranger, 0x30, (byte) 9), 1);
        }
        b.protocol.connect(a.address);
        assertThat(b.protocol.dropped(Drop.FOREIGN)).isEqualTo(DatagramSide.SLOTS);
        assertThat(b.receive()).isEqualTo(DATA);
        assertThat(b.receive()).isNull();
        a.send(DATA, b.address, 2);
        b.onPacket(a.takePacket(), 2);
        b.protocol.connect(stranger.address);
        assertThat(b.receives).as("its slot is free again").hasSize(DatagramSide.SLOTS);
        for (int i = 0; i < DatagramSide.SLOTS; i++) {
            b.protocol.onCompanion(stranger.address, message(CompanionHeader.DATA, stranger, 0x30, (byte) 9), 2);
        }
        assertThat(b.protocol.dropped(Drop.NO_ROOM)).isZero();
    }

    @Test
    void datagramWithoutRouteToItsSenderIsDropped() {
        b.hasEnd = false;
        b.protocol.onCompanion(a.address, message(CompanionHeader.DATA, a, 0x10, DATA), 0);
        assertThat(b.protocol.dropped(Drop.NO_ROOM)).isEqualTo(1);
        assertThat(b.receive()).isNull();
    }

    @ParameterizedTest
    @ValueSource(longs = {1, 2, 3})
    void noiseIsCountedAndChangesNothing(long seed) {
        introduce();
        Random random = new Random(seed);
        long before = a.protocol.peerCount();
        for (int i = 0; i < 20_000; i++) {
            byte[] noise = new byte[random.nextInt(100)];
            random.nextBytes(noise);
            if (random.nextBoolean() && noise.length >= 8) {
                ByteBuffer.wrap(noise).putInt(0, random.nextBoolean() ? 0x5555_5555 : 0x0408_03e8);
            }
            a.protocol.onCompanion(DatagramSide.ipv4(5, 5), ByteBuffer.wrap(noise), i);
            a.onPacket(noise, DatagramSide.ipv4(5, 5), random.nextInt(1 << 24), i);
        }
        assertThat(a.protocol.dropped(Drop.MALFORMED)).as("seed %d", seed).isGreaterThan(20_000);
        assertThat(a.protocol.peerCount()).isLessThanOrEqualTo((int) before + 1);
        assertThat(a.receives).hasSize(DatagramSide.SLOTS);
        assertThat(a.receive()).isNull();
        transfer(1);
    }

    /** Both sides send and receive at random, over a network that sometimes loses all messages and reorders UDP. */
    @ParameterizedTest
    @ValueSource(longs = {11, 12, 13, 14, 15})
    void datagramsArriveCompleteAndAtMostOnce(long seed) {
        Random random = new Random(seed);
        Set<Integer> sent = new HashSet<>();
        Set<Integer> got = new HashSet<>();
        long now = 0;
        for (int i = 0; i < 10_000; i++) {
            now += random.nextInt(1_000_000);
            DatagramSide side = random.nextBoolean() ? a : b;
            DatagramSide other = side == a ? b : a;
            switch (random.nextInt(4)) {
                case 0 -> {
                    byte[] data = numbered(i, 4 + random.nextInt(2000));
                    if (side.send(data, other.address, now)) {
                        sent.add(i);
                    }
                }
                case 1 -> {
                    byte[] data = side.receive();
                    if (data != null) {
                        int number = ByteBuffer.wrap(data).getInt();
                        assertThat(data).isEqualTo(numbered(number, data.length));
                        assertThat(sent).as("seed %d", seed).contains(number);
                        assertThat(got.add(number)).as("seed %d", seed).isTrue();
                    }
                }
                case 2 -> {
                    if (!side.packets.isEmpty()) {
                        DatagramSide.Packet packet = side.takePacket();
                        if (random.nextInt(10) > 0) {
                            other.onPacket(packet, now);
                        }
                    }
                }
                default -> {
                    DatagramSide.Packet message =
                            random.nextBoolean() ? side.messages.pollFirst() : side.messages.pollLast();
                    if (message != null && random.nextInt(10) > 0) {
                        other.onMessage(message, now);
                    }
                }
            }
            assertThat(side.receives.size()).isBetween(0, DatagramSide.SLOTS);
        }
        assertThat(got).as("seed %d", seed).hasSizeGreaterThan(400);
        assertThat(a.protocol.questions()).as("seed %d", seed).isLessThan(400);
    }

    private static byte[] numbered(int number, int length) {
        byte[] data = new byte[length];
        new Random(number).nextBytes(data);
        ByteBuffer.wrap(data).putInt(number);
        return data;
    }
}

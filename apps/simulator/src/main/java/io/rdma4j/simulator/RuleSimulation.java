package io.rdma4j.simulator;

import io.rdma4j.transport.MemoryRegion;
import io.rdma4j.transport.SendRequest;
import io.rdma4j.value.AccessFlag;
import io.rdma4j.value.CompletionStatus;
import io.rdma4j.value.SendOpcode;
import io.rdma4j.wire.Aeth;
import io.rdma4j.wire.Bth;
import io.rdma4j.wire.Opcode;
import io.rdma4j.wire.Packet;
import io.rdma4j.wire.Psn;
import io.rdma4j.wire.Timers;
import java.lang.foreign.MemorySegment;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.SplittableRandom;
import java.util.concurrent.atomic.AtomicBoolean;

/**
 * Rules of the reliable connection that random work over a faulty network does not exercise.
 *
 * <p>They state how a responder reacts to a peer that breaks a rule, and how often and when a requester retransmits to
 * a silent peer. The seed of a run selects one of the rules, and random sizes. The seeds from 0 to {@code RULES - 1}
 * cover all rules.
 */
public final class RuleSimulation {
    /** The number of rules. */
    public static final int RULES = 9;

    private static final int BYTES = 4096;
    private static final int EXPONENT = 12;

    private final SplittableRandom random;
    private final byte[] clientBytes = new byte[BYTES];
    private final byte[] serverBytes = new byte[BYTES];
    private int count;
    private int lastMessageNumber;

    private RuleSimulation(long seed) {
        random = new SplittableRandom(seed);
        random.nextBytes(clientBytes);
        random.nextBytes(serverBytes);
    }

    /**
     * Runs the rule of a seed.
     *
     * @throws SimulationFailure if the rule is violated; the message names the seed
     */
    public static void run(long seed) {
        RuleSimulation s = new RuleSimulation(seed);
        try {
            switch ((int) Long.remainderUnsigned(seed, RULES)) {
                case 0 -> s.gapIsRefusedOnce();
                case 1 -> s.everyMessageIsCounted();
                case 2 -> s.lostResponseIsDetectedByTheNextAcknowledgement();
                case 3 -> s.silentPeerExhaustsTheRetries();
                case 4 -> s.peerWithoutReceivesExhaustsTheRnrRetries();
                case 5 -> s.wrongRequestIsRefusedAndChangesNothing();
                case 6 -> s.messageThatDoesNotFitIsRefused();
                case 7 -> s.packetOfWrongSizeIsRefused();
                default -> s.acknowledgementOfAnUnsentPacketIsIgnored();
            }
        } catch (SimulationFailure failure) {
            throw new SimulationFailure("rule with seed " + seed + ": " + failure.getMessage(), failure);
        }
    }

    private RulePair pair(int retryCount, int rnrRetry, int timeout) {
        int mtu = 256 << random.nextInt(5);
        return pair(mtu, mtu, retryCount, rnrRetry, timeout);
    }

    private RulePair pair(int clientMtu, int serverMtu, int retryCount, int rnrRetry, int timeout) {
        int psn = random.nextBoolean() ? Psn.MASK - random.nextInt(8) : random.nextInt(Psn.COUNT);
        return new RulePair(
                new RulePair.Terms(clientMtu, serverMtu, psn, retryCount, rnrRetry, timeout), random.split());
    }

    private void gapIsRefusedOnce() {
        RulePair pair = pair(7, 7, EXPONENT);
        MemoryRegion from = pair.client.register(clientBytes, 0, 1);
        MemoryRegion to = pair.server.register(serverBytes, 0, 1);
        int messages = random.nextInt(4, RulePair.DEPTH + 1);
        for (int i = 0; i < messages; i++) {
            pair.server.postReceive(i, to, 100);
            pair.client.post(i, SendOpcode.SEND, from, 100);
        }
        AtomicBoolean wasLost = new AtomicBoolean();
        pair.requests = packet -> wasLost.getAndSet(true);
        pair.responses = packet -> {
            count += isNak(packet) ? 1 : 0;
            return true;
        };
        pair.exchangeUntilIdle();
        check(count == 1, count + " NAKs for one gap");
        checkAllSucceeded(pair, messages);
    }

    private void everyMessageIsCounted() {
        RulePair pair = pair(7, 7, EXPONENT);
        MemoryRegion from = pair.client.register(clientBytes, 0, 1);
        MemoryRegion to = pair.server.register(serverBytes, 0, 1);
        pair.responses = packet -> {
            if (packet.opcode().hasAeth()) {
                lastMessageNumber = Aeth.messageSequenceNumber(packet.segment(), packet.aethOffset());
            }
            return true;
        };
        SendOpcode[] kinds = {
            SendOpcode.SEND,
            SendOpcode.RDMA_WRITE,
            SendOpcode.RDMA_READ,
            SendOpcode.FETCH_AND_ADD,
            SendOpcode.FLUSH,
            SendOpcode.ATOMIC_WRITE
        };
        for (int i = 1; i <= 8; i++) {
            SendOpcode kind = kinds[random.nextInt(kinds.length)];
            pair.server.postReceive(i, to, 1000);
            SendRequest request = pair.client.claim(i, kind, from, length(kind, 1000));
            request.remoteAddress = to.address();
            request.remoteKey = to.key();
            pair.client.queuePair.sendQueue().publish();
            pair.exchangeUntilIdle();
            check(lastMessageNumber == i, "message " + i + " is acknowledged with number " + lastMessageNumber);
        }
    }

    /** Returns the length of the local memory of an operation. */
    private static int length(SendOpcode kind, int otherwise) {
        return switch (kind) {
            case FETCH_AND_ADD -> Long.BYTES;
            case FLUSH, ATOMIC_WRITE -> 0;
            default -> otherwise;
        };
    }

    private void lostResponseIsDetectedByTheNextAcknowledgement() {
        RulePair pair = pair(7, 7, 0); // no timer: only the peer's response can trigger the retransmission
        MemoryRegion from = pair.client.register(clientBytes, 0, 1);
        MemoryRegion to = pair.server.register(serverBytes, 0, 1);
        pair.server.postReceive(1, to, 100);
        SendOpcode[] kinds = {SendOpcode.RDMA_READ, SendOpcode.FETCH_AND_ADD, SendOpcode.FLUSH, SendOpcode.ATOMIC_WRITE
        };
        SendOpcode kind = kinds[random.nextInt(kinds.length)];
        SendRequest request = pair.client.claim(1, kind, from, length(kind, 64));
        request.remoteAddress = to.address();
        request.remoteKey = to.key();
        pair.client.queuePair.sendQueue().publish();
        pair.client.post(2, SendOpcode.SEND, from, 100);
        AtomicBoolean wasLost = new AtomicBoolean();
        pair.responses = packet -> wasLost.getAndSet(true);
        pair.exchange();
        checkAllSucceeded(pair, 2);
    }

    private void silentPeerExhaustsTheRetries() {
        int retries = random.nextInt(8);
        RulePair pair = pair(retries, 7, EXPONENT);
        MemoryRegion from = pair.client.register(clientBytes, 0, 1);
        int messages = random.nextInt(1, RulePair.DEPTH + 1);
        for (int i = 0; i < messages; i++) {
            pair.client.post(i, SendOpcode.SEND, from, 10);
        }
        int first = pair.client.queuePair.sendPsn();
        pair.requests = packet -> {
            count += packet.psn() == first ? 1 : 0;
            return false;
        };
        long start = pair.nowNanos;
        pair.exchangeUntilIdle();
        check(count == retries + 1, "with " + retries + " retries it was sent " + count + " times");
        long spent = pair.nowNanos - start;
        long minNanos = (retries + 1) * Timers.acknowledgeTimeoutNanos(EXPONENT);
        check(spent >= minNanos && spent <= 4 * minNanos, "the connection broke after " + spent + " ns");
        checkFailed(pair, messages, CompletionStatus.RETRY_EXCEEDED_ERROR);
    }

    private void peerWithoutReceivesExhaustsTheRnrRetries() {
        int retries = random.nextInt(7);
        RulePair pair = pair(7, retries, EXPONENT);
        MemoryRegion from = pair.client.register(clientBytes, 0, 1);
        pair.client.post(1, SendOpcode.SEND, from, 10);
        pair.requests = packet -> {
            count++;
            return true;
        };
        pair.exchangeUntilIdle();
        check(count == retries + 1, "with " + retries + " retries it was sent " + count + " times");
        checkFailed(pair, 1, CompletionStatus.RNR_RETRY_EXCEEDED_ERROR);
    }

    private void wrongRequestIsRefusedAndChangesNothing() {
        RulePair pair = pair(7, 0, EXPONENT);
        MemoryRegion from = pair.client.register(clientBytes, 0, 1);
        SendOpcode[] kinds = {
            SendOpcode.RDMA_WRITE,
            SendOpcode.RDMA_READ,
            SendOpcode.FETCH_AND_ADD,
            SendOpcode.FLUSH,
            SendOpcode.ATOMIC_WRITE
        };
        SendOpcode kind = kinds[random.nextInt(kinds.length)];
        int right = switch (kind) {
            case RDMA_WRITE, ATOMIC_WRITE -> AccessFlag.REMOTE_WRITE.bit();
            case FLUSH -> AccessFlag.FLUSH_GLOBAL.bit();
            case RDMA_READ -> AccessFlag.REMOTE_READ.bit();
            default -> AccessFlag.REMOTE_ATOMIC.bit();
        };
        int fault = random.nextInt(7);
        // The region covers only a part of the bytes, so that an access beyond its end would be detected.
        MemoryRegion to = pair.server.memory.register(
                MemorySegment.ofArray(serverBytes).asSlice(0, BYTES / 2),
                0x20_0000_0000L,
                (AccessFlag.LOCAL_WRITE.bit()
                                | AccessFlag.REMOTE_WRITE.bit()
                                | AccessFlag.REMOTE_READ.bit()
                                | AccessFlag.REMOTE_ATOMIC.bit()
                                | AccessFlag.FLUSH_GLOBAL.bit())
                        & (fault == 0 ? ~right : ~0),
                fault == 1 ? 2 : 1);
        boolean isWord = kind == SendOpcode.FETCH_AND_ADD || kind == SendOpcode.ATOMIC_WRITE;
        int length = isWord ? 8 : random.nextInt(1, BYTES / 2);
        SendRequest request = pair.client.claim(1, kind, from, length(kind, length));
        request.flushBytes = length;
        request.remoteAddress = to.address() + (fault == 2 ? BYTES / 2 - length / 8 * 8 + 8 : fault == 3 ? -8 : 0);
        request.remoteKey =
                to.key() ^ (fault == 4 ? 1 << random.nextInt(8) : fault == 5 ? 1 << random.nextInt(8, 32) : 0);
        if (fault == 6) {
            pair.server.memory.deregister(to);
        }
        request.swapOrAdd = 1;
        pair.client.queuePair.sendQueue().publish();
        pair.client.post(2, SendOpcode.SEND, from, 10);
        byte[] serverBefore = serverBytes.clone();
        byte[] clientBefore = clientBytes.clone();
        pair.exchangeUntilIdle();
        check(Arrays.equals(serverBefore, serverBytes), kind + " with fault " + fault + " has changed memory");
        check(Arrays.equals(clientBefore, clientBytes), kind + " with fault " + fault + " has read memory");
        checkFailed(pair, 2, CompletionStatus.REMOTE_ACCESS_ERROR);
    }

    private void messageThatDoesNotFitIsRefused() {
        RulePair pair = pair(7, 7, EXPONENT);
        MemoryRegion from = pair.client.register(clientBytes, 0, 1);
        MemoryRegion to = pair.server.register(serverBytes, 0, 1);
        int room = random.nextInt(1, BYTES);
        pair.server.postReceive(1, to, room);
        pair.server.postReceive(2, to, room);
        pair.client.post(1, SendOpcode.SEND, from, room + 1L);
        byte[] beyond = Arrays.copyOfRange(serverBytes, room, BYTES);
        pair.exchangeUntilIdle();
        check(Arrays.equals(beyond, Arrays.copyOfRange(serverBytes, room, BYTES)), "a receive was overrun");
        checkFailed(pair, 1, CompletionStatus.REMOTE_INVALID_REQUEST_ERROR);
        check(
                pair.server
                        .statuses(true)
                        .equals(List.of(
                                CompletionStatus.LOCAL_LENGTH_ERROR, CompletionStatus.WORK_REQUEST_FLUSHED_ERROR)),
                "the receives ended with " + pair.server.statuses(true));
    }

    private void packetOfWrongSizeIsRefused() {
        boolean isShort = random.nextBoolean();
        RulePair pair = pair(isShort ? 256 : 1024, isShort ? 1024 : 256, 7, 7, EXPONENT);
        MemoryRegion from = pair.client.register(clientBytes, 0, 1);
        MemoryRegion to = pair.server.register(serverBytes, 0, 1);
        pair.server.postReceive(1, to, BYTES);
        SendOpcode kind = random.nextBoolean() ? SendOpcode.SEND : SendOpcode.RDMA_WRITE;
        SendRequest request = pair.client.claim(1, kind, from, random.nextInt(300, 1000));
        request.remoteAddress = to.address();
        request.remoteKey = to.key();
        pair.client.queuePair.sendQueue().publish();
        byte[] before = serverBytes.clone();
        pair.exchangeUntilIdle();
        check(Arrays.equals(before, serverBytes), "a packet of wrong size was executed");
        checkFailed(pair, 1, CompletionStatus.REMOTE_INVALID_REQUEST_ERROR);
    }

    private void acknowledgementOfAnUnsentPacketIsIgnored() {
        RulePair pair = pair(7, 7, EXPONENT);
        MemoryRegion from = pair.client.register(clientBytes, 0, 1);
        int messages = random.nextInt(1, 4);
        int first = pair.client.queuePair.sendPsn();
        for (int i = 0; i < messages; i++) {
            pair.client.post(i, SendOpcode.SEND, from, 10);
        }
        pair.requests = packet -> false;
        pair.exchange();
        int wrong = random.nextBoolean() ? messages + random.nextInt(3) : -1 - random.nextInt(3);
        MemorySegment forged = MemorySegment.ofArray(new byte[Bth.LENGTH + Aeth.LENGTH]);
        Bth.write(
                forged,
                0,
                Opcode.RC_ACKNOWLEDGE.code(),
                false,
                0,
                0xffff,
                pair.client.queuePair.number(),
                false,
                Psn.plus(first, wrong));
        Aeth.write(forged, Bth.LENGTH, Aeth.ACK, messages);
        try {
            pair.deliverForgedResponse(forged, Bth.LENGTH + Aeth.LENGTH);
        } catch (RuntimeException e) {
            throw new SimulationFailure("a forged acknowledgement throws " + e, e);
        }
        check(pair.client.done.isEmpty(), "a forged acknowledgement has completed " + pair.client.done);
    }

    private static void checkAllSucceeded(RulePair pair, int messages) {
        List<CompletionStatus> statuses = pair.client.statuses(false);
        check(
                statuses.equals(Collections.nCopies(messages, CompletionStatus.SUCCESS)),
                "the sends ended with " + statuses + " instead of " + messages + " successes");
    }

    /**
     * Checks that the first send failed with a status, that the others were flushed in order, and that none is missing.
     */
    private static void checkFailed(RulePair pair, int messages, CompletionStatus status) {
        List<CompletionStatus> statuses = pair.client.statuses(false);
        check(
                statuses.size() == messages && statuses.getFirst() == status,
                "the sends ended with " + statuses + " instead of " + status);
        check(
                statuses.stream().skip(1).allMatch(each -> each == CompletionStatus.WORK_REQUEST_FLUSHED_ERROR),
                "the sends after it ended with " + statuses);
        for (int i = 1; i < messages; i++) {
            check(pair.client.done.get(i).id() > pair.client.done.get(i - 1).id(), "flushed out of order");
        }
    }

    private static void check(boolean condition, String message) {
        if (!condition) {
            throw new SimulationFailure(message);
        }
    }

    private static boolean isNak(Packet packet) {
        return packet.opcode() == Opcode.RC_ACKNOWLEDGE && Aeth.isNak(packet.syndrome());
    }
}

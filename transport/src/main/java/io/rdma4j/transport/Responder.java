package io.rdma4j.transport;

import io.rdma4j.wire.Aeth;
import io.rdma4j.wire.AtomicEth;
import io.rdma4j.wire.Opcode;
import io.rdma4j.wire.Packet;
import io.rdma4j.wire.Psn;
import io.rdma4j.wire.Reth;
import java.lang.foreign.MemorySegment;
import org.jspecify.annotations.Nullable;

/**
 * Serves the peer's requests: every packet in the order of the PSNs goes through {@link #checkOpSequence},
 * {@link #checkOpAllowed}, {@link #checkResources}, {@link #checkLength}, {@link #checkKey}, {@link #execute} and
 * {@link #acknowledge}. What it answers is written by {@link ResponseQueue}.
 *
 * <p>Source: InfiniBand Architecture volume 1, 9.7.4 to 9.7.5; the order of the checks is that of Linux rdma_rxe.
 */
final class Responder {
    private static final long MAX_MESSAGE_BYTES = Requester.MAX_MESSAGE_BYTES;

    /** What a check says, and how the peer and the application learn of it. */
    private enum Verdict {
        PASS,
        /** No receive is posted: RNR NAK. */
        NOT_READY,
        /** The request breaks a rule: NAK invalid request. */
        INVALID_REQUEST,
        /** The message does not fit the receive: NAK invalid request; the receive ends with a length error. */
        TOO_LONG,
        /** Key, range or rights are wrong: NAK remote access error. */
        ACCESS_ERROR,
        /** The receive's own memory cannot be used: NAK remote operational error. */
        RECEIVE_ERROR,
        /** The message is there, but its completion is lost, which has failed the queue pair: NAK remote operational error. */
        NOT_REPORTED
    }

    /** The kind of message that is only partly received. */
    private enum Message {
        NONE,
        SEND,
        WRITE
    }

    private final RcQueuePair queuePair;
    private final MemoryTable memory;
    private final ReceiveSource receives;
    private final QueuePairCounters counters;
    private final ResponseQueue answers;
    private final long[] atomicResult = new long[1];

    private int mtu = 256;
    private ReadAtomicResources resources = new ReadAtomicResources(0);

    /** Next request, as a PSN continued to 64 bits. */
    private long expected;

    /** Whether the peer was told that {@link #expected} is missing or could not be taken, and nothing came since. */
    private boolean wasRefused;

    private Message message = Message.NONE;

    /** The shared receive queue that the message names, of an extended connection. */
    private int messageQueue;

    private long receivedBytes;
    private long messageBytes;
    private @Nullable MemoryRegion writeRegion;
    private long writeOffset;

    /**
     * What {@link #checkKey} has found for the packet at hand. Looked up once: another thread may take the region back, or
     * give its key to another one, between the check and the use.
     */
    private @Nullable MemoryRegion region;

    Responder(RcQueuePair queuePair, MemoryTable memory, ReceiveSource receives, QueuePairCounters counters) {
        this.queuePair = queuePair;
        this.memory = memory;
        this.receives = receives;
        this.counters = counters;
        answers = new ResponseQueue(this, queuePair.isExtended(), counters);
    }

    void start(RcQueuePair.ReceiveParameters p) {
        mtu = p.pathMtuBytes();
        expected = p.receivePsn();
        wasRefused = false;
        message = Message.NONE;
        writeRegion = null;
        resources = new ReadAtomicResources(p.maxDestinationReadAtomic());
        answers.start(p, resources);
    }

    /** Sets what may change while the queue pair works; what was answered is remembered as far as the new depth allows. */
    void change(RcQueuePair.ReceiveParameters p) {
        resources = new ReadAtomicResources(p.maxDestinationReadAtomic(), resources);
        answers.change(p, resources);
    }

    /** PSN of the next request. */
    int expectedPsn() {
        return (int) expected & Psn.MASK;
    }

    ResponseQueue answers() {
        return answers;
    }

    /** Takes a request; says whether it had an effect or an answer. */
    boolean onRequest(long nowNanos, Packet packet) {
        int distance = Psn.distance(packet.psn(), (int) expected & Psn.MASK);
        boolean isOutOfWindow = queuePair.peerCheck.isOutOfWindow(nowNanos, distance);
        if (distance < 0) {
            counters.duplicateRequests++;
            return onDuplicate(expected + distance, packet); // a guess too: it may be the rest of a big READ
        }
        if (distance > 0) {
            counters.outOfSequenceRequests++;
            return !isOutOfWindow && onGap(); // refused, it would make the peer send again what has arrived
        }
        queuePair.noteRequest();
        Opcode opcode = packet.opcode();
        Verdict verdict = checkOpSequence(opcode);
        if (verdict == Verdict.PASS) {
            verdict = checkSharedReceiveQueue(packet);
        }
        if (verdict == Verdict.PASS) {
            verdict = checkOpAllowed(opcode, packet);
        }
        if (verdict == Verdict.PASS) {
            verdict = checkResources(opcode);
        }
        if (verdict == Verdict.PASS) {
            verdict = checkLength(opcode, packet);
        }
        if (verdict == Verdict.PASS) {
            verdict = checkKey(opcode, packet);
        }
        if (verdict == Verdict.PASS) {
            verdict = execute(opcode, packet);
        }
        if (verdict != Verdict.PASS) {
            refuse(verdict);
        }
        return true;
    }

    /** Something before this packet is missing: says so once. */
    private boolean onGap() {
        if (wasRefused) {
            return false;
        }
        wasRefused = true;
        counters.sentSequenceErrors++;
        answers.refuse(Aeth.NAK_PSN_SEQUENCE_ERROR, expected);
        return true;
    }

    // ---- checks ----

    private Verdict checkOpSequence(Opcode opcode) {
        boolean fits = switch (message) {
            case NONE -> opcode.isFirst();
            case SEND -> opcode.isSend() && !opcode.isFirst();
            case WRITE -> opcode.isWrite() && !opcode.isFirst();
        };
        return fits ? Verdict.PASS : Verdict.INVALID_REQUEST;
    }

    /** The target of extended connections: every request names a queue of its domain, the same throughout a message. */
    private Verdict checkSharedReceiveQueue(Packet packet) {
        if (!receives.isExtended()) {
            return Verdict.PASS;
        }
        int number = packet.sharedReceiveQueue();
        boolean isSame = message == Message.NONE || number == messageQueue;
        if (!isSame || !receives.select(number)) {
            return Verdict.INVALID_REQUEST;
        }
        messageQueue = number;
        return Verdict.PASS;
    }

    private Verdict checkOpAllowed(Opcode opcode, Packet packet) {
        boolean allowed = true;
        if (opcode.isWrite()) {
            allowed = queuePair.peerMay(AccessFlags.REMOTE_WRITE);
        } else if (opcode.isRead()) {
            allowed = queuePair.peerMay(AccessFlags.REMOTE_READ) && resources.isEnabled();
        } else if (opcode.isAtomic()) {
            long address = AtomicEth.address(packet.segment(), packet.atomicEthOffset());
            allowed = queuePair.peerMay(AccessFlags.REMOTE_ATOMIC) && resources.isEnabled() && (address & 7) == 0;
        }
        return allowed ? Verdict.PASS : Verdict.INVALID_REQUEST;
    }

    private Verdict checkResources(Opcode opcode) {
        if (opcode.isRead() || opcode.isAtomic()) {
            return resources.hasRoom() ? Verdict.PASS : Verdict.INVALID_REQUEST;
        }
        boolean needsReceive = opcode.isSend() && opcode.isFirst() || opcode.isWrite() && opcode.hasImmediate();
        return needsReceive && receives.current() == null ? Verdict.NOT_READY : Verdict.PASS;
    }

    private Verdict checkLength(Opcode opcode, Packet packet) {
        int payload = packet.payloadLength();
        if (!hasRightPad(packet)) {
            return Verdict.INVALID_REQUEST;
        }
        if (opcode.isRead() || opcode.isAtomic()) {
            boolean tooLong = opcode.isRead() && dmaLength(packet) > MAX_MESSAGE_BYTES;
            return payload != 0 || tooLong ? Verdict.INVALID_REQUEST : Verdict.PASS;
        }
        if (!hasRightSize(packet, mtu)) {
            return Verdict.INVALID_REQUEST;
        }
        long before = opcode.isFirst() ? 0 : receivedBytes;
        if (opcode.isSend()) {
            ReceiveRequest receive = receives.current();
            boolean holds = receive != null && payload <= receive.list.totalBytes() - before;
            return holds ? Verdict.PASS : Verdict.TOO_LONG;
        }
        long total = opcode.isFirst() ? dmaLength(packet) : messageBytes;
        long left = total - before;
        boolean exact = opcode.isLast() ? payload == left : payload < left;
        return exact && total <= MAX_MESSAGE_BYTES ? Verdict.PASS : Verdict.INVALID_REQUEST;
    }

    static boolean hasRightPad(Packet packet) {
        return packet.padCount() == (-packet.payloadLength() & 3);
    }

    /** Whether the payload is as long as its place in a SEND or WRITE demands: only the last packet may be shorter. */
    static boolean hasRightSize(Packet packet, int mtu) {
        int payload = packet.payloadLength();
        Opcode opcode = packet.opcode();
        return opcode.isLast() ? payload <= mtu && (payload > 0 || opcode.isFirst()) : payload == mtu;
    }

    private Verdict checkKey(Opcode opcode, Packet packet) {
        if (opcode.isSend()) {
            return Verdict.PASS;
        }
        if (opcode.isWrite() && !opcode.isFirst()) { // the region may have been taken back between two packets
            MemoryRegion begun = writeRegion;
            return begun != null && begun.isValid() ? Verdict.PASS : Verdict.ACCESS_ERROR;
        }
        if (opcode.isAtomic()) {
            MemorySegment s = packet.segment();
            long at = packet.atomicEthOffset();
            region = find(AtomicEth.key(s, at), AtomicEth.address(s, at), Long.BYTES, AccessFlags.REMOTE_ATOMIC);
            return region != null ? Verdict.PASS : Verdict.ACCESS_ERROR;
        }
        long length = dmaLength(packet);
        if (length == 0) { // key and address of nothing are not looked at
            region = null;
            return Verdict.PASS;
        }
        int right = opcode.isWrite() ? AccessFlags.REMOTE_WRITE : AccessFlags.REMOTE_READ;
        MemorySegment s = packet.segment();
        long at = packet.rethOffset();
        region = find(Reth.key(s, at), Reth.address(s, at), length, right);
        return region != null ? Verdict.PASS : Verdict.ACCESS_ERROR;
    }

    /** The region of a key, if it gives the right for the whole range. */
    private @Nullable MemoryRegion find(int key, long address, long length, int right) {
        return memory.find(key, address, length, right, queuePair);
    }

    static long dmaLength(Packet packet) {
        return Integer.toUnsignedLong(Reth.dmaLength(packet.segment(), packet.rethOffset()));
    }

    // ---- execution; nothing before this point changed anything ----

    private Verdict execute(Opcode opcode, Packet packet) {
        if (opcode.isSend()) {
            return executeSend(opcode, packet);
        }
        if (opcode.isWrite()) {
            return executeWrite(opcode, packet);
        }
        return opcode.isRead() ? executeRead(packet) : executeAtomic(opcode, packet);
    }

    private Verdict executeSend(Opcode opcode, Packet packet) {
        ReceiveRequest receive = receives.current();
        if (receive == null) {
            return Verdict.NOT_READY;
        }
        long before = opcode.isFirst() ? 0 : receivedBytes;
        int payload = packet.payloadLength();
        boolean placed = LocalMemory.scatter(
                receive.list, receives.protectionDomain(), before, packet.segment(), packet.payloadOffset(), payload);
        if (!placed) {
            return Verdict.RECEIVE_ERROR;
        }
        receivedBytes = before + payload;
        message = opcode.isLast() ? Message.NONE : Message.SEND;
        if (opcode.hasIeth() && !memory.invalidate(packet.invalidateKey(), queuePair)) {
            acknowledge(opcode, packet);
            refuseInvalidation(receive);
            return Verdict.PASS;
        }
        if (opcode.isLast() && !report(receive, packet, receivedBytes)) {
            return Verdict.NOT_REPORTED;
        }
        acknowledge(opcode, packet);
        return Verdict.PASS;
    }

    /**
     * Completes a receive, before its message is acknowledged: the peer must not take for delivered what nobody here is told
     * of.
     *
     * @return whether there was room for the completion
     */
    private boolean report(ReceiveRequest receive, Packet packet, long bytes) {
        queuePair.completeReceive(receive, packet, bytes);
        return queuePair.isReceiving();
    }

    /**
     * The peer's message is there and acknowledged, but the key that it takes back is not that of a memory window that
     * this queue pair has bound: a region, for one, can be taken back by its owner only. The receive ends with the peer's fault and the queue pair fails (fault class J of the
     * specification, as in Linux rdma_rxe).
     */
    private void refuseInvalidation(ReceiveRequest receive) {
        counters.keyViolations++;
        queuePair.failReceive(receive, WorkStatus.REMOTE_INVALID_REQUEST_ERROR);
        queuePair.failWith(QueuePairEvent.ACCESS_ERROR);
    }

    private Verdict executeWrite(Opcode opcode, Packet packet) {
        if (opcode.isFirst()) {
            messageBytes = dmaLength(packet);
            receivedBytes = 0;
            MemoryRegion found = taken();
            writeRegion = found;
            writeOffset = found == null ? 0 : Reth.address(packet.segment(), packet.rethOffset()) - found.address();
        }
        int payload = packet.payloadLength();
        MemoryRegion target = writeRegion;
        if (target != null
                && !LocalMemory.copy(
                        packet.segment(),
                        packet.payloadOffset(),
                        target.memory(),
                        writeOffset + receivedBytes,
                        payload)) {
            return Verdict.ACCESS_ERROR;
        }
        receivedBytes += payload;
        message = opcode.isLast() ? Message.NONE : Message.WRITE;
        if (opcode.isLast()) {
            writeRegion = null;
        }
        ReceiveRequest receive = opcode.hasImmediate() ? receives.current() : null;
        if (receive != null && !report(receive, packet, messageBytes)) {
            return Verdict.NOT_REPORTED;
        }
        acknowledge(opcode, packet);
        return Verdict.PASS;
    }

    /** What the check has found, or null; it is not held any longer than this packet needs it. */
    private @Nullable MemoryRegion taken() {
        MemoryRegion found = region;
        region = null;
        return found;
    }

    private Verdict executeRead(Packet packet) {
        MemorySegment s = packet.segment();
        long at = packet.rethOffset();
        long length = dmaLength(packet);
        ReadAtomicResources.Resource r = resources.allocate();
        r.isAtomic = false;
        r.address = Reth.address(s, at);
        r.key = Reth.key(s, at);
        r.region = taken();
        r.lengthBytes = length;
        remember(r, (int) Math.max(1, (length + mtu - 1) / mtu));
        return Verdict.PASS;
    }

    private Verdict executeAtomic(Opcode opcode, Packet packet) {
        MemorySegment s = packet.segment();
        long at = packet.atomicEthOffset();
        long address = AtomicEth.address(s, at);
        MemoryRegion target = taken();
        boolean isSwap = opcode.connected() == Opcode.RC_COMPARE_SWAP;
        if (target == null
                || !LocalMemory.atomic(
                        target.memory(),
                        address - target.address(),
                        isSwap,
                        AtomicEth.compare(s, at),
                        AtomicEth.swapOrAdd(s, at),
                        atomicResult)) {
            return Verdict.ACCESS_ERROR;
        }
        ReadAtomicResources.Resource r = resources.allocate();
        r.isAtomic = true;
        r.region = null;
        r.lengthBytes = 0;
        r.original = atomicResult[0];
        remember(r, 1);
        return Verdict.PASS;
    }

    private void remember(ReadAtomicResources.Resource r, int packets) {
        r.firstSequence = expected;
        r.endSequence = expected + packets;
        r.messageSequenceNumber = answers.onMessageDone();
        r.sentEnd = expected;
        resources.activate(r, expected, r.lengthBytes);
        expected = r.endSequence;
        wasRefused = false;
        answers.onProgress();
    }

    private void acknowledge(Opcode opcode, Packet packet) {
        if (opcode.isLast()) {
            answers.onMessageDone();
        }
        answers.onExecuted(expected, packet.acknowledgeRequest());
        expected++;
        wasRefused = false;
    }

    // ---- requests that were executed before ----

    private boolean onDuplicate(long sequence, Packet packet) {
        Opcode opcode = packet.opcode();
        if (opcode.isSend() || opcode.isWrite()) {
            answers.acknowledgeAgain();
            return true;
        }
        ReadAtomicResources.Resource r = resources.find(sequence);
        if (r == null || r.isAtomic != opcode.isAtomic()) {
            return false;
        }
        long endBytes = 0;
        if (!r.isAtomic) {
            MemorySegment s = packet.segment();
            long at = packet.rethOffset();
            long skipped = (sequence - r.firstSequence) * mtu;
            endBytes = skipped + dmaLength(packet);
            boolean isPart = endBytes <= r.lengthBytes
                    && (endBytes > skipped || r.lengthBytes == 0)
                    && (r.lengthBytes == 0 || Reth.key(s, at) == r.key && Reth.address(s, at) == r.address + skipped);
            if (!isPart) {
                return false;
            }
        }
        resources.activate(r, sequence, endBytes);
        return true;
    }

    // ---- refusals ----

    private void refuse(Verdict verdict) {
        switch (verdict) {
            case PASS -> {}
            case NOT_READY -> {
                counters.sentRnrNaks++;
                wasRefused = true;
                answers.refuseForNow(expected);
            }
            case INVALID_REQUEST -> {
                answers.refuse(Aeth.NAK_INVALID_REQUEST, expected);
                endReceive(message == Message.SEND, WorkStatus.REMOTE_INVALID_REQUEST_ERROR);
                queuePair.failWith(QueuePairEvent.REQUEST_ERROR);
            }
            case TOO_LONG -> {
                answers.refuse(Aeth.NAK_INVALID_REQUEST, expected);
                endReceive(true, WorkStatus.LOCAL_LENGTH_ERROR);
                queuePair.failWith(QueuePairEvent.REQUEST_ERROR);
            }
            case ACCESS_ERROR -> onAccessError(expected);
            case NOT_REPORTED -> answers.refuse(Aeth.NAK_REMOTE_OPERATIONAL_ERROR, expected);
            case RECEIVE_ERROR -> {
                answers.refuse(Aeth.NAK_REMOTE_OPERATIONAL_ERROR, expected);
                endReceive(true, WorkStatus.LOCAL_PROTECTION_ERROR);
                queuePair.failWith(null);
            }
        }
    }

    private void endReceive(boolean isInUse, WorkStatus status) {
        ReceiveRequest receive = isInUse ? receives.posted() : null;
        if (receive != null) {
            queuePair.failReceive(receive, status);
        }
    }

    /** The memory of a request cannot, or no longer, be used: refuses the packet of that sequence and fails. */
    void onAccessError(long sequence) {
        counters.keyViolations++;
        answers.refuse(Aeth.NAK_REMOTE_ACCESS_ERROR, sequence);
        queuePair.failWith(QueuePairEvent.ACCESS_ERROR);
    }
}

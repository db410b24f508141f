package io.rdma4j.transport;

import io.rdma4j.value.AccessFlag;
import io.rdma4j.value.CompletionStatus;
import io.rdma4j.wire.Aeth;
import io.rdma4j.wire.AtomicEth;
import io.rdma4j.wire.Opcode;
import io.rdma4j.wire.Packet;
import io.rdma4j.wire.Psn;
import io.rdma4j.wire.Reth;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import org.jspecify.annotations.Nullable;

/**
 * The responder half of a reliable queue pair, which executes the peer's requests. Each packet in PSN order goes
 * through {@link #checkOpSequence}, {@link #checkOpAllowed}, {@link #checkResources}, {@link #checkLength},
 * {@link #checkKey}, {@link #execute} and {@link #acknowledge}. Responses are written by {@link ResponseQueue}.
 *
 * <p>Source: InfiniBand Architecture volume 1, 9.7.4 to 9.7.5; the order of the checks is that of Linux rdma_rxe.
 */
final class Responder {
    private static final int REMOTE_WRITE = AccessFlag.REMOTE_WRITE.bit();
    private static final int REMOTE_READ = AccessFlag.REMOTE_READ.bit();
    private static final int REMOTE_ATOMIC = AccessFlag.REMOTE_ATOMIC.bit();

    private static final long MAX_MESSAGE_BYTES = QueuePairMachine.MAX_MESSAGE_BYTES;

    /** The result of a check and how it is reported to the peer and the application. */
    private enum Verdict {
        PASS,
        /** No receive is posted: RNR NAK. */
        NOT_READY,
        /**
         * No resource is free for the response, on a connection with FLUSHes: the packet is handled as a lost one. Linux peers
         * limit READs and atomics in flight, but not FLUSHes.
         */
        NO_RESOURCE,
        /** The request is invalid: NAK invalid request. */
        INVALID_REQUEST,
        /** The message exceeds the receive: NAK invalid request; the receive completes with a length error. */
        TOO_LONG,
        /** The key, range or access right is invalid: NAK remote access error. */
        ACCESS_ERROR,
        /** The receive's memory cannot be accessed: NAK remote operational error. */
        RECEIVE_ERROR,
        /** The message was received, but the lost completion failed the queue pair: NAK remote operational error. */
        NOT_REPORTED
    }

    /** The kind of message that is partially received. */
    private enum Message {
        NONE,
        SEND,
        WRITE
    }

    private final RcQueuePair queuePair;
    private final MemoryTable memory;
    private final ReceiveSource receives;
    private final QueuePairCounters counters;
    private final ResponseQueue responses;
    private final long[] atomicResult = new long[1];

    private int mtu = 256;
    private ReadAtomicResources resources = new ReadAtomicResources(0);

    /** Sequence (64-bit extension of the PSN) of the next request. */
    private long expected;

    /** True if a NAK for {@link #expected} was sent and no request was executed since. */
    private boolean nakSent;

    /** True if the peer has sent a FLUSH. */
    private boolean hasFlushed;

    private Message message = Message.NONE;

    /** For an extended connection, the number of the shared receive queue that the message names. */
    private int messageQueue;

    private long receivedBytes;
    private long messageBytes;
    private @Nullable MemoryRegion writeRegion;
    private long writeOffset;

    /**
     * Region found by {@link #checkKey} for the current packet. Looked up only once, since another thread may
     * deregister the region, or reuse its key, between the check and the use.
     */
    private @Nullable MemoryRegion region;

    Responder(RcQueuePair queuePair, MemoryTable memory, ReceiveSource receives, QueuePairCounters counters) {
        this.queuePair = queuePair;
        this.memory = memory;
        this.receives = receives;
        this.counters = counters;
        responses = new ResponseQueue(this, queuePair.isExtended(), counters);
    }

    void start(RcQueuePair.ReceiveParameters p) {
        mtu = p.pathMtuBytes();
        expected = p.receivePsn();
        nakSent = false;
        hasFlushed = false;
        message = Message.NONE;
        writeRegion = null;
        resources = new ReadAtomicResources(p.maxDestinationReadAtomic());
        responses.start(p, resources);
    }

    /**
     * Applies parameters that may change during operation. Executed requests are remembered as far as the new depth
     * allows.
     */
    void change(RcQueuePair.ReceiveParameters p) {
        resources = new ReadAtomicResources(p.maxDestinationReadAtomic(), resources);
        responses.change(p, resources);
    }

    /** Returns the PSN of the next request. */
    int expectedPsn() {
        return (int) expected & Psn.MASK;
    }

    ResponseQueue responses() {
        return responses;
    }

    /** Processes a request. Returns whether it had an effect or is answered. */
    boolean onRequest(long nowNanos, Packet packet) {
        int distance = Psn.distance(packet.psn(), (int) expected & Psn.MASK);
        boolean isOutOfWindow = queuePair.peerCheck.isOutOfWindow(nowNanos, distance);
        if (distance < 0) {
            counters.duplicateRequests++;
            return onDuplicate(expected + distance, packet); // even if far off: it may request the rest of a long READ
        }
        if (distance > 0) {
            counters.outOfSequenceRequests++;
            return !isOutOfWindow && onGap(); // a NAK would make the peer retransmit packets that arrived
        }
        queuePair.onExpectedRequest();
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
            reject(verdict);
        }
        return true;
    }

    /** Handles a packet behind a gap: sends one NAK for each gap. */
    private boolean onGap() {
        if (nakSent) {
            return false;
        }
        nakSent = true;
        counters.sentSequenceErrors++;
        responses.nak(Aeth.NAK_PSN_SEQUENCE_ERROR, expected);
        return true;
    }

    // ---- checks ----

    private Verdict checkOpSequence(Opcode opcode) {
        boolean isValid = switch (message) {
            case NONE -> opcode.isFirst();
            case SEND -> opcode.isSend() && !opcode.isFirst();
            case WRITE -> opcode.isWrite() && !opcode.isFirst();
        };
        return isValid ? Verdict.PASS : Verdict.INVALID_REQUEST;
    }

    /**
     * Checks that a request to the target of extended connections names a queue of its domain, the same throughout a
     * message.
     */
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
        boolean isAllowed = true;
        if (opcode.isWrite()) {
            isAllowed = queuePair.peerMay(REMOTE_WRITE);
        } else if (opcode.isAtomicWrite()) {
            long address = Reth.address(packet.segment(), packet.rethOffset());
            isAllowed = queuePair.peerMay(REMOTE_WRITE) && resources.isEnabled() && (address & 7) == 0;
        } else if (opcode.isFlush()) {
            isAllowed = FlushRequests.isValid(packet)
                    && queuePair.peerMay(FlushRequests.rights(packet))
                    && resources.isEnabled();
        } else if (opcode.isRead()) {
            isAllowed = queuePair.peerMay(REMOTE_READ) && resources.isEnabled();
        } else if (opcode.isAtomic()) {
            long address = AtomicEth.address(packet.segment(), packet.atomicEthOffset());
            isAllowed = queuePair.peerMay(REMOTE_ATOMIC) && resources.isEnabled() && (address & 7) == 0;
        }
        return isAllowed ? Verdict.PASS : Verdict.INVALID_REQUEST;
    }

    private Verdict checkResources(Opcode opcode) {
        if (opcode.needsResponse()) {
            hasFlushed |= opcode.isFlush();
            Verdict verdict = hasFlushed ? Verdict.NO_RESOURCE : Verdict.INVALID_REQUEST;
            return resources.hasRoom() ? Verdict.PASS : verdict;
        }
        boolean needsReceive = opcode.isSend() && opcode.isFirst() || opcode.isWrite() && opcode.hasImmediate();
        return needsReceive && receives.current() == null ? Verdict.NOT_READY : Verdict.PASS;
    }

    private Verdict checkLength(Opcode opcode, Packet packet) {
        int payload = packet.payloadLength();
        if (!hasRightPad(packet)) {
            return Verdict.INVALID_REQUEST;
        }
        if (opcode.isAtomicWrite()) {
            boolean isExact = payload == Long.BYTES && dmaLength(packet) == Long.BYTES;
            return isExact ? Verdict.PASS : Verdict.INVALID_REQUEST;
        }
        if (opcode.needsResponse()) {
            boolean hasLength = opcode.isRead() || opcode.isFlush() && !FlushRequests.concernsRegion(packet);
            boolean isTooLong = hasLength && dmaLength(packet) > MAX_MESSAGE_BYTES;
            return payload != 0 || isTooLong ? Verdict.INVALID_REQUEST : Verdict.PASS;
        }
        if (!hasRightSize(packet, mtu)) {
            return Verdict.INVALID_REQUEST;
        }
        long before = opcode.isFirst() ? 0 : receivedBytes;
        if (opcode.isSend()) {
            ReceiveRequest receive = receives.current();
            boolean fits = receive != null && payload <= receive.list.totalBytes() - before;
            return fits ? Verdict.PASS : Verdict.TOO_LONG;
        }
        long total = opcode.isFirst() ? dmaLength(packet) : messageBytes;
        long left = total - before;
        boolean isExact = opcode.isLast() ? payload == left : payload < left;
        return isExact && total <= MAX_MESSAGE_BYTES ? Verdict.PASS : Verdict.INVALID_REQUEST;
    }

    static boolean hasRightPad(Packet packet) {
        return packet.padCount() == (-packet.payloadLength() & 3);
    }

    /**
     * Returns whether the payload length suits the packet's position in a SEND or WRITE. Only the last packet may be
     * short.
     */
    static boolean hasRightSize(Packet packet, int mtu) {
        int payload = packet.payloadLength();
        Opcode opcode = packet.opcode();
        return opcode.isLast() ? payload <= mtu && (payload > 0 || opcode.isFirst()) : payload == mtu;
    }

    private Verdict checkKey(Opcode opcode, Packet packet) {
        if (opcode.isSend()) {
            return Verdict.PASS;
        }
        if (opcode.isWrite() && !opcode.isFirst()) { // the region may have changed between two packets
            writeRegion = memory.findAgain(writeRegion, REMOTE_WRITE, queuePair);
            return writeRegion != null ? Verdict.PASS : Verdict.ACCESS_ERROR;
        }
        if (opcode.isAtomic()) {
            MemorySegment s = packet.segment();
            long at = packet.atomicEthOffset();
            region = find(AtomicEth.key(s, at), AtomicEth.address(s, at), Long.BYTES, REMOTE_ATOMIC);
            return region != null ? Verdict.PASS : Verdict.ACCESS_ERROR;
        }
        if (opcode.isFlush()) {
            region = FlushRequests.find(packet, memory, queuePair);
            return region != null ? Verdict.PASS : Verdict.ACCESS_ERROR;
        }
        long length = dmaLength(packet);
        if (length == 0) { // key and address of a zero-length request are not checked
            region = null;
            return Verdict.PASS;
        }
        int right = opcode.isWrite() || opcode.isAtomicWrite() ? REMOTE_WRITE : REMOTE_READ;
        MemorySegment s = packet.segment();
        long at = packet.rethOffset();
        region = find(Reth.key(s, at), Reth.address(s, at), length, right);
        return region != null ? Verdict.PASS : Verdict.ACCESS_ERROR;
    }

    /** Returns the current object of a region that the peer reads, or null if it may no longer read it. */
    @Nullable
    MemoryRegion readable(MemoryRegion read) {
        return memory.findAgain(read, REMOTE_READ, queuePair);
    }

    /** Returns the region of a key if it grants the right for the whole range, otherwise null. */
    private @Nullable MemoryRegion find(int key, long address, long length, int right) {
        return memory.find(key, address, length, right, queuePair);
    }

    static long dmaLength(Packet packet) {
        return Integer.toUnsignedLong(Reth.dmaLength(packet.segment(), packet.rethOffset()));
    }

    // ---- execution; the checks above modify no registered memory ----

    private Verdict execute(Opcode opcode, Packet packet) {
        if (opcode.isSend()) {
            return executeSend(opcode, packet);
        }
        if (opcode.isWrite()) {
            return executeWrite(opcode, packet);
        }
        if (opcode.isAtomic()) {
            return executeAtomic(opcode, packet);
        }
        return opcode.isRead() ? executeRead(packet) : executeAnsweredEmpty(opcode, packet);
    }

    private Verdict executeSend(Opcode opcode, Packet packet) {
        ReceiveRequest receive = receives.current();
        if (receive == null) {
            return Verdict.NOT_READY;
        }
        long before = opcode.isFirst() ? 0 : receivedBytes;
        int payload = packet.payloadLength();
        boolean copied = LocalMemory.scatter(
                receive.list,
                receives.protectionDomain(),
                before,
                packet.payloadSegment(),
                packet.payloadOffset(),
                payload);
        if (!copied) {
            return Verdict.RECEIVE_ERROR;
        }
        receivedBytes = before + payload;
        message = opcode.isLast() ? Message.NONE : Message.SEND;
        if (opcode.hasIeth() && !memory.invalidate(packet.invalidateKey(), queuePair)) {
            acknowledge(opcode, packet);
            rejectInvalidation(receive);
            return Verdict.PASS;
        }
        if (opcode.isLast() && !report(receive, packet, receivedBytes)) {
            return Verdict.NOT_REPORTED;
        }
        acknowledge(opcode, packet);
        return Verdict.PASS;
    }

    /**
     * Completes a receive before its message is acknowledged. The peer must not consider a message delivered that is
     * not reported here.
     *
     * @return {@code false} if the completion was lost
     */
    private boolean report(ReceiveRequest receive, Packet packet, long bytes) {
        queuePair.completeReceive(receive, packet, bytes);
        return queuePair.isReceiving();
    }

    /**
     * Fails the queue pair after a SEND with invalidate whose key is not that of a memory window bound by this queue
     * pair. Memory regions, for example, can only be deregistered by their owner. The message itself is received and
     * acknowledged. Its receive completes with the peer's error (fault class J of the specification, as in Linux
     * rdma_rxe).
     */
    private void rejectInvalidation(ReceiveRequest receive) {
        counters.keyViolations++;
        queuePair.failReceive(receive, CompletionStatus.REMOTE_INVALID_REQUEST_ERROR);
        queuePair.failWith(QueuePairEvent.ACCESS_ERROR);
    }

    private Verdict executeWrite(Opcode opcode, Packet packet) {
        if (opcode.isFirst()) {
            messageBytes = dmaLength(packet);
            receivedBytes = 0;
            MemoryRegion found = takeRegion();
            writeRegion = found;
            writeOffset = found == null ? 0 : Reth.address(packet.segment(), packet.rethOffset()) - found.address();
        }
        int payload = packet.payloadLength();
        MemoryRegion target = writeRegion;
        if (target != null
                && !LocalMemory.copy(
                        packet.payloadSegment(),
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

    /** Returns the region found by {@link #checkKey}, or null, and clears the reference to it. */
    private @Nullable MemoryRegion takeRegion() {
        MemoryRegion found = region;
        region = null;
        return found;
    }

    private Verdict executeRead(Packet packet) {
        MemorySegment s = packet.segment();
        long at = packet.rethOffset();
        long length = dmaLength(packet);
        ReadAtomicResources.Resource r = resources.allocate();
        r.kind = ReadAtomicResources.Kind.READ;
        r.address = Reth.address(s, at);
        r.key = Reth.key(s, at);
        r.region = takeRegion();
        r.lengthBytes = length;
        remember(r, (int) Math.max(1, (length + mtu - 1) / mtu));
        return Verdict.PASS;
    }

    private Verdict executeAtomic(Opcode opcode, Packet packet) {
        MemorySegment s = packet.segment();
        long at = packet.atomicEthOffset();
        long address = AtomicEth.address(s, at);
        MemoryRegion target = takeRegion();
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
        r.kind = ReadAtomicResources.Kind.ATOMIC;
        r.region = null;
        r.lengthBytes = 0;
        r.original = atomicResult[0];
        remember(r, 1);
        return Verdict.PASS;
    }

    /** Executes a FLUSH or an ATOMIC WRITE, which are answered like a READ of no bytes. */
    private Verdict executeAnsweredEmpty(Opcode opcode, Packet packet) {
        MemoryRegion target = takeRegion();
        if (target == null || !(opcode.isFlush() ? FlushRequests.execute(packet, target) : store(packet, target))) {
            return Verdict.ACCESS_ERROR;
        }
        ReadAtomicResources.Resource r = resources.allocate();
        r.kind = ReadAtomicResources.Kind.of(opcode);
        r.region = null;
        r.lengthBytes = 0;
        remember(r, 1);
        return Verdict.PASS;
    }

    private static boolean store(Packet packet, MemoryRegion target) {
        long value = packet.payloadSegment().get(ValueLayout.JAVA_LONG_UNALIGNED, packet.payloadOffset());
        long address = Reth.address(packet.segment(), packet.rethOffset());
        return LocalMemory.atomicWrite(target.memory(), address - target.address(), value);
    }

    private void remember(ReadAtomicResources.Resource r, int packets) {
        r.firstSequence = expected;
        r.endSequence = expected + packets;
        r.messageSequenceNumber = responses.onMessageDone();
        r.sentEnd = expected;
        resources.activate(r, expected, r.lengthBytes);
        expected = r.endSequence;
        nakSent = false;
        responses.onReadOrAtomic();
    }

    private void acknowledge(Opcode opcode, Packet packet) {
        if (opcode.isLast()) {
            responses.onMessageDone();
        }
        responses.onExecuted(expected, packet.acknowledgeRequest());
        expected++;
        nakSent = false;
    }

    // ---- duplicate requests ----

    private boolean onDuplicate(long sequence, Packet packet) {
        Opcode opcode = packet.opcode();
        if (opcode.isSend() || opcode.isWrite()) {
            responses.acknowledgeAgain();
            return true;
        }
        ReadAtomicResources.Resource r = resources.find(sequence);
        if (r == null || r.kind != ReadAtomicResources.Kind.of(opcode)) {
            return false;
        }
        long endBytes = 0;
        if (r.kind == ReadAtomicResources.Kind.READ) {
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

    // ---- rejected requests ----

    private void reject(Verdict verdict) {
        switch (verdict) {
            case PASS -> {}
            case NO_RESOURCE -> {
                boolean _ = onGap();
            }
            case NOT_READY -> {
                counters.sentRnrNaks++;
                nakSent = true;
                responses.rnrNak(expected);
            }
            case INVALID_REQUEST -> {
                responses.nak(Aeth.NAK_INVALID_REQUEST, expected);
                endReceive(message == Message.SEND, CompletionStatus.REMOTE_INVALID_REQUEST_ERROR);
                queuePair.failWith(QueuePairEvent.REQUEST_ERROR);
            }
            case TOO_LONG -> {
                responses.nak(Aeth.NAK_INVALID_REQUEST, expected);
                endReceive(true, CompletionStatus.LOCAL_LENGTH_ERROR);
                queuePair.failWith(QueuePairEvent.REQUEST_ERROR);
            }
            case ACCESS_ERROR -> onAccessError(expected);
            case NOT_REPORTED -> responses.nak(Aeth.NAK_REMOTE_OPERATIONAL_ERROR, expected);
            case RECEIVE_ERROR -> {
                responses.nak(Aeth.NAK_REMOTE_OPERATIONAL_ERROR, expected);
                endReceive(true, CompletionStatus.LOCAL_PROTECTION_ERROR);
                queuePair.failWith(null);
            }
        }
    }

    private void endReceive(boolean isTaken, CompletionStatus status) {
        ReceiveRequest receive = isTaken ? receives.posted() : null;
        if (receive != null) {
            queuePair.failReceive(receive, status);
        }
    }

    /** Sends a NAK for a sequence whose memory cannot, or can no longer, be accessed, and fails the queue pair. */
    void onAccessError(long sequence) {
        counters.keyViolations++;
        responses.nak(Aeth.NAK_REMOTE_ACCESS_ERROR, sequence);
        queuePair.failWith(QueuePairEvent.ACCESS_ERROR);
    }
}

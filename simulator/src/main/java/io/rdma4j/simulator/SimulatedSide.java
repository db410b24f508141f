package io.rdma4j.simulator;

import io.rdma4j.simulator.network.SimulatedHost;
import io.rdma4j.transport.AccessFlags;
import io.rdma4j.transport.Completion;
import io.rdma4j.transport.MemoryRegion;
import io.rdma4j.transport.QueuePairEvent;
import io.rdma4j.transport.QueuePairMachine;
import io.rdma4j.transport.RcQueuePair;
import io.rdma4j.transport.ScatterGather;
import io.rdma4j.transport.SendRequest;
import io.rdma4j.transport.WorkOpcode;
import io.rdma4j.transport.WorkStatus;
import io.rdma4j.wire.Feth;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.SplittableRandom;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;

/**
 * One side of a reliable connection in a run.
 *
 * <p>It posts random work, maintains the model of the expected effects, and checks every completion against it.
 *
 * <p>The model is sequential: a responder executes requests in the order in which they were posted. So the memory, the
 * result of each READ and atomic, and each message are known when a request is posted. There is one exception: a READ
 * whose response was lost is executed again, possibly after later WRITEs to the same bytes. So a change that follows a
 * READ is fenced, as an application would have to do.
 *
 * <p>If a connection ends early, the peer's memory must match the model after some of the requests, in their order. The
 * last of them may be partial, packet by packet. The memory and the received messages must include everything that was
 * reported as completed here.
 */
final class SimulatedSide implements ConnectedSide {
    private static final int TARGET_BYTES = SideMemory.TARGET_BYTES;
    private static final int PROHIBITED = 10;
    private static final int DRAINS = 100;

    /** Retry count of every connection. */
    static final int RETRIES = 7;

    private final String name;
    private final SplittableRandom random;
    private final SimulatedHost host;
    private final RunParameters parameters;
    private final BooleanSupplier mayBreak;
    private final RcQueuePair queuePair;
    private final int startingPsn;
    private final int servedReads;
    private final QueuePairMachine.Configuration configuration;

    private final SideMemory memory;
    private final SideWindows windows;
    private final SideReceives receives;

    /** The expected content of the peer's target memory after all posted requests. */
    private byte[] model = new byte[0];

    private int resultsUsed;
    private int planned;
    private long nextId;
    private boolean readSinceFence;
    private int mtuBytes;
    private boolean started;
    private boolean killed;
    private boolean hasReceived;
    private boolean failed;
    private boolean hasBrokenRules;
    private final List<MemoryChange> changes = new ArrayList<>();
    private int confirmedChanges;
    private int confirmedMessages;
    private final ArrayDeque<SimulatedOperation> unfinished = new ArrayDeque<>();
    private boolean broken;
    private SimulatedSide peer = this;

    /**
     * Creates a side.
     *
     * @param role role of the queue pair; a target posts nothing
     * @param pool the pool that its receives come from, or null for a queue of its own
     * @param mayBreak returns whether there is a reason for the peer to be unreachable
     */
    SimulatedSide(
            String name,
            SimulatedHost host,
            RcQueuePair.Role role,
            RunParameters parameters,
            @Nullable ReceivePool pool,
            BooleanSupplier mayBreak,
            SplittableRandom random) {
        this.name = name;
        this.host = host;
        this.parameters = parameters;
        this.mayBreak = mayBreak;
        this.random = random;
        planned = role == RcQueuePair.Role.TARGET ? 0 : random.nextInt(0, parameters.operationsPerSide() + 1);
        startingPsn = ConnectedSide.startingPsn(random);
        servedReads = random.nextInt(1, 9);
        int receiveBytesEach = parameters.maxMessageBytes() + SideReceives.SLACK_BYTES;
        memory = new SideMemory(
                host,
                planned * parameters.maxMessageBytes(),
                (parameters.operationsPerSide() + 1) * receiveBytesEach,
                random);
        boolean hasWindows = role == RcQueuePair.Role.CONNECTED && random.nextInt(3) == 0;
        windows = new SideWindows(host, memory.target, hasWindows, random.split());
        receives =
                new SideReceives(name, memory, parameters.maxMessageBytes(), pool, windows::onRevoked, random.split());
        configuration = new QueuePairMachine.Configuration(
                random.nextInt(1, 12),
                random.nextInt(1, 12),
                4,
                4,
                random.nextInt(0, 200),
                random.nextInt(4) == 0,
                1,
                pool == null || role != RcQueuePair.Role.CONNECTED ? null : pool.queue(),
                pool == null || role != RcQueuePair.Role.TARGET ? null : pool.domain());
        queuePair = new RcQueuePair(
                role,
                host.unusedQueuePairNumber(),
                configuration,
                host.memory(),
                this::onSendCompletion,
                receives::onCompletion,
                event -> hasReceived |= event == QueuePairEvent.COMMUNICATION_ESTABLISHED);
        queuePair.toInit(AccessFlags.REMOTE_WRITE
                | AccessFlags.REMOTE_READ
                | AccessFlags.REMOTE_ATOMIC
                | AccessFlags.FLUSH_GLOBAL);
        host.add(queuePair);
    }

    @Override
    public String name() {
        return name;
    }

    @Override
    public SimulatedHost host() {
        return host;
    }

    @Override
    public QueuePairMachine machine() {
        return queuePair;
    }

    @Override
    public ConnectionTerms terms() {
        return new ConnectionTerms(host.addressHigh(), host.addressLow(), queuePair.number(), startingPsn, servedReads);
    }

    @Override
    public byte[] connectData() {
        return new byte[0];
    }

    @Override
    public void setPeer(ConnectedSide other) {
        peer = (SimulatedSide) other;
        model = peer.memory.targetCopy();
    }

    @Override
    public void ready(ConnectionTerms other, byte[] connectData, int pathMtuBytes) {
        mtuBytes = pathMtuBytes;
        queuePair.toReadyToReceive(new RcQueuePair.ReceiveParameters(
                ConnectedSide.path(host, other),
                pathMtuBytes,
                other.startingPsn(),
                servedReads,
                random.nextInt(1, 15)));
        queuePair.toReadyToSend(new RcQueuePair.SendParameters(
                startingPsn, other.servedReads(), RETRIES, 7, random.nextInt(9, 14), random.nextBoolean()));
    }

    @Override
    public void start() {
        started = true;
    }

    @Override
    public boolean isDone() {
        return broken || planned == 0 && unfinished.isEmpty() && receives.isEmpty();
    }

    /** Returns whether the queue pair is broken. The only valid reason is an unreachable peer. */
    boolean isBroken() {
        return broken;
    }

    @Override
    public boolean isComplete() {
        return planned == 0 && !failed;
    }

    @Override
    public boolean wantsToEnd() {
        return broken;
    }

    @Override
    public boolean isClosed() {
        return broken;
    }

    @Override
    public boolean hasReceived() {
        return hasReceived;
    }

    @Override
    public boolean isKilled() {
        return killed;
    }

    @Override
    public void kill() {
        killed = true;
        broken = true;
    }

    /** Posts some of the remaining work, as far as the queues have room. */
    @Override
    public void work(long nowNanos) {
        if (broken || !started) {
            return;
        }
        drainOrResume();
        for (int i = random.nextInt(3); i > 0 && planned > 0; i--) {
            if (!postSend()) {
                break;
            }
            planned--;
        }
        if (queuePair.state() == QueuePairMachine.State.ERROR) {
            end(); // a request of the peer was refused
            return;
        }
        receives.post(queuePair.receiveQueue());
    }

    /** Occasionally drains the send queue, and resumes it later. */
    private void drainOrResume() {
        if (queuePair.state() == QueuePairMachine.State.READY_TO_SEND && random.nextInt(DRAINS) == 0) {
            queuePair.drain(random.nextBoolean());
        } else if (queuePair.state() == QueuePairMachine.State.SEND_QUEUE_DRAINED
                && !queuePair.isDraining()
                && random.nextInt(3) == 0) {
            queuePair.resume();
        }
    }

    private boolean postSend() {
        SendRequest request = queuePair.sendQueue().claim();
        if (request == null) {
            return false;
        }
        WorkOpcode[] opcodes = WorkOpcode.values();
        WorkOpcode opcode = opcodes[random.nextInt(opcodes.length)];
        request.workRequestId = nextId++;
        request.opcode = opcode;
        request.signaled = configuration.signalAll() || planned == 1 || random.nextBoolean();
        request.solicited = random.nextBoolean();
        request.fence = random.nextInt(8) == 0;
        request.inline = false;
        request.immediate = random.nextInt();
        request.list.clear();
        boolean isProhibited = planned == 1 && parameters.breaksRules() && random.nextInt(PROHIBITED) == 0;
        SimulatedOperation operation = isProhibited ? prohibited(request) : permitted(request);
        if (request.fence) {
            readSinceFence = false;
        }
        if (request.opcode == WorkOpcode.RDMA_READ) {
            readSinceFence = true;
        }
        if (queuePair.role() == RcQueuePair.Role.INITIATOR) {
            request.remoteSharedReceiveQueue = peer.receives.sharedQueueNumber();
        }
        unfinished.add(operation);
        queuePair.sendQueue().publish();
        return true;
    }

    private SimulatedOperation permitted(SendRequest request) {
        return switch (request.opcode) {
            case RDMA_READ -> read(request);
            case COMPARE_AND_SWAP, FETCH_AND_ADD -> atomic(request);
            case FLUSH -> flush(request);
            case ATOMIC_WRITE -> atomicWrite(request);
            case RDMA_WRITE, RDMA_WRITE_WITH_IMMEDIATE -> write(request);
            case BIND_MEMORY_WINDOW, LOCAL_INVALIDATE -> local(request);
            case SEND_WITH_INVALIDATE -> sendWithInvalidate(request);
            case SEND, SEND_WITH_IMMEDIATE -> send(request, null);
        };
    }

    /** Binds or invalidates a window; sends if no window is available. */
    private SimulatedOperation local(SendRequest request) {
        Runnable whenDone = windows.fill(request, peer);
        if (whenDone == null) {
            request.opcode = WorkOpcode.SEND;
            return send(request, null);
        }
        SimulatedOperation operation = new SimulatedOperation(request, 0, 0, new byte[0], changes.size());
        operation.whenDone = whenDone;
        return operation;
    }

    /** Invalidates a window of the peer; sends if none is available. */
    private SimulatedOperation sendWithInvalidate(SendRequest request) {
        SideWindows.Grant grant = peer.windows.revoke();
        if (grant == null) {
            request.opcode = WorkOpcode.SEND;
            return send(request, null);
        }
        request.invalidateKey = grant.key();
        request.fence |= readSinceFence;
        return send(request, grant.key());
    }

    private SimulatedOperation send(SendRequest request, @Nullable Integer revokedKey) {
        byte[] message = message(request, parameters.maxMessageBytes());
        boolean immediate = request.opcode == WorkOpcode.SEND_WITH_IMMEDIATE;
        peer.receives.expect(
                new ExpectedReceive(message, message.length, immediate ? request.immediate : null, revokedKey, false));
        return new SimulatedOperation(request, message.length, 0, new byte[0], changes.size());
    }

    private SimulatedOperation write(SendRequest request) {
        byte[] message = message(request, Math.min(parameters.maxMessageBytes(), TARGET_BYTES));
        int offset = remote(request, message.length, 1);
        request.fence |= readSinceFence;
        change(offset, message, false);
        if (request.opcode == WorkOpcode.RDMA_WRITE_WITH_IMMEDIATE) {
            peer.receives.expect(new ExpectedReceive(new byte[0], message.length, request.immediate, null, true));
        }
        return new SimulatedOperation(request, message.length, 0, new byte[0], changes.size());
    }

    private SimulatedOperation read(SendRequest request) {
        int length = length(Math.min(parameters.maxMessageBytes(), TARGET_BYTES));
        int offset = remote(request, length, 1);
        return withResult(request, Arrays.copyOfRange(model, offset, offset + length));
    }

    private SimulatedOperation atomic(SendRequest request) {
        int offset = remote(request, Long.BYTES, Long.BYTES);
        request.fence |= readSinceFence;
        MemorySegment before = MemorySegment.ofArray(model);
        ValueLayout.OfLong layout = ValueLayout.JAVA_LONG_UNALIGNED.withOrder(ByteOrder.nativeOrder());
        long old = before.get(layout, offset);
        request.compare = random.nextBoolean() ? old : random.nextLong();
        request.swapOrAdd = random.nextLong();
        boolean add = request.opcode == WorkOpcode.FETCH_AND_ADD;
        byte[] result = Arrays.copyOfRange(model, offset, offset + Long.BYTES);
        if (add || request.compare == old) {
            byte[] changed = new byte[Long.BYTES];
            MemorySegment.ofArray(changed).set(layout, 0, add ? old + request.swapOrAdd : request.swapOrAdd);
            change(offset, changed, true);
        }
        return withResult(request, result);
    }

    private SimulatedOperation atomicWrite(SendRequest request) {
        int offset = remote(request, Long.BYTES, Long.BYTES);
        request.fence |= readSinceFence;
        request.lengthBytes = 0;
        request.swapOrAdd = random.nextLong();
        byte[] changed = new byte[Long.BYTES];
        MemorySegment.ofArray(changed).set(ValueLayout.JAVA_LONG_UNALIGNED, 0, request.swapOrAdd);
        change(offset, changed, true);
        return new SimulatedOperation(request, Long.BYTES, 0, new byte[0], changes.size());
    }

    /** Flushes a range of the target or all of it. Windows grant no right to it. */
    private SimulatedOperation flush(SendRequest request) {
        boolean isRange = random.nextBoolean();
        int length = isRange ? random.nextInt(TARGET_BYTES + 1) : 0;
        request.lengthBytes = 0;
        request.flushPlacement = Feth.GLOBAL;
        request.flushSelectivity = isRange ? Feth.RANGE : Feth.REGION;
        request.flushBytes = length;
        request.remoteKey = peer.memory.target.key();
        request.remoteAddress =
                isRange ? peer.memory.target.address() + random.nextInt(TARGET_BYTES - length + 1) : random.nextLong();
        return new SimulatedOperation(request, length, 0, new byte[0], changes.size());
    }

    private void change(int offset, byte[] after, boolean isWhole) {
        byte[] before = Arrays.copyOfRange(model, offset, offset + after.length);
        changes.add(new MemoryChange(offset, before, after, isWhole));
        System.arraycopy(after, 0, model, offset, after.length);
    }

    private SimulatedOperation withResult(SendRequest request, byte[] result) {
        int offset = resultsUsed;
        resultsUsed += result.length;
        if (request.opcode == WorkOpcode.RDMA_READ) {
            split(request.list, memory.results, offset, result.length);
        } else {
            request.list.add(memory.results, offset, result.length);
        }
        request.lengthBytes = result.length;
        return new SimulatedOperation(request, result.length, offset, result, changes.size());
    }

    /** Chooses an offset in the peer's memory, and the key of the region or of a window; returns the offset. */
    private int remote(SendRequest request, int length, int alignment) {
        SideWindows.Grant grant = random.nextInt(3) == 0 ? null : peer.windows.pick(length);
        if (grant == null) {
            int offset = random.nextInt((TARGET_BYTES - length) / alignment + 1) * alignment;
            request.remoteAddress = peer.memory.target.address() + offset;
            request.remoteKey = peer.memory.target.key();
            return offset;
        }
        int inside = random.nextInt((grant.length() - length) / alignment + 1) * alignment;
        request.remoteAddress = grant.address() + inside;
        request.remoteKey = grant.key();
        return grant.offset() + inside;
    }

    /** Returns whether a request that is not yet reported as completed may use a key. */
    boolean isUsing(int key) {
        return unfinished.stream().anyMatch(operation -> operation.remoteKey == key);
    }

    /**
     * Fills a request that the peer must refuse, which breaks the connection: its key is wrong or its range is too
     * long.
     */
    private SimulatedOperation prohibited(SendRequest request) {
        boolean isRead = random.nextBoolean();
        request.opcode = isRead ? WorkOpcode.RDMA_READ : WorkOpcode.RDMA_WRITE;
        int length = random.nextInt(1, Math.min(parameters.maxMessageBytes(), TARGET_BYTES) + 1);
        request.list.add(isRead ? memory.results : memory.source, 0, length);
        request.lengthBytes = length;
        request.signaled = true;
        request.fence = true;
        request.remoteKey = peer.memory.target.key();
        request.remoteAddress = peer.memory.target.address();
        switch (random.nextInt(3)) {
            case 0 -> request.remoteKey ^= 1 << random.nextInt(Integer.SIZE);
            case 1 -> request.remoteAddress += TARGET_BYTES - random.nextInt(length);
            default -> {
                request.remoteKey = peer.memory.source.key();
                request.remoteAddress = peer.memory.source.address();
            }
        }
        hasBrokenRules = true;
        SimulatedOperation operation = new SimulatedOperation(request, length, 0, new byte[0], changes.size());
        operation.isProhibited = true;
        return operation;
    }

    /** Chooses a message, gathered from random offsets of the source memory or inline. */
    private byte[] message(SendRequest request, int maxBytes) {
        int length = length(maxBytes);
        request.lengthBytes = length;
        byte[] message = new byte[length];
        if (length <= configuration.maxInlineBytes() && random.nextBoolean()) {
            request.inline = true;
            random.nextBytes(message);
            MemorySegment.copy(message, 0, request.inlineData, ValueLayout.JAVA_BYTE, 0, length);
            return message;
        }
        int done = 0;
        for (int pieces = random.nextInt(1, 4); pieces > 0; pieces--) {
            int piece = pieces == 1 ? length - done : random.nextInt(length - done + 1);
            int from = random.nextInt(SideMemory.SOURCE_BYTES - piece + 1);
            request.list.add(memory.source, from, piece);
            System.arraycopy(memory.sourceBytes, from, message, done, piece);
            done += piece;
        }
        return message;
    }

    private int length(int maxBytes) {
        return RandomPieces.length(random, maxBytes);
    }

    private void split(ScatterGather list, MemoryRegion region, int offset, int length) {
        RandomPieces.split(random, list, region, offset, length);
    }

    private void onSendCompletion(Completion completion) {
        check(completion.queuePairNumber == queuePair.number(), "a completion of another queue pair");
        if (completion.status != WorkStatus.SUCCESS) {
            onSendFailure(completion);
            return;
        }
        check(!broken, "a success after the queue pair broke");
        SimulatedOperation operation = unfinished.poll();
        while (operation != null && !operation.signaled) {
            confirm(operation);
            operation = unfinished.poll();
        }
        check(operation != null, "an unexpected completion: " + completion.workRequestId);
        if (operation != null) {
            check(
                    operation.id == completion.workRequestId,
                    "completion " + completion.workRequestId + " instead of " + operation.id);
            check(operation.opcode == completion.opcode, "completion of " + completion.opcode + " for " + operation);
            check(
                    completion.byteLength == operation.lengthBytes,
                    "completion of " + completion.byteLength + " bytes for " + operation);
            confirm(operation);
        }
    }

    /** Returns whether the queue pair may break with a status. */
    private boolean isPermitted(WorkStatus status) {
        return switch (status) {
            case RETRY_EXCEEDED_ERROR -> mayBreak.getAsBoolean() || peer.broken || peer.hasBrokenRules;
            case REMOTE_ACCESS_ERROR -> hasBrokenRules;
            case WORK_REQUEST_FLUSHED_ERROR -> peer.hasBrokenRules;
            default -> false;
        };
    }

    private void onSendFailure(Completion completion) {
        if (!broken) {
            check(
                    isPermitted(completion.status),
                    "work request " + completion.workRequestId + " ended with " + completion.status);
            broken = true;
        } else {
            check(
                    completion.status == WorkStatus.WORK_REQUEST_FLUSHED_ERROR,
                    "status " + completion.status + " after the queue pair broke");
        }
        // Unsignaled requests that succeeded; after the first failure there are none.
        while (!failed && !unfinished.isEmpty() && unfinished.peek().id != completion.workRequestId) {
            check(!unfinished.peek().signaled, "no completion of " + unfinished.peek());
            confirm(unfinished.remove());
        }
        failed = true;
        SimulatedOperation operation = unfinished.poll();
        check(
                operation != null && operation.id == completion.workRequestId,
                "flushed " + completion.workRequestId + " instead of " + operation);
    }

    private void confirm(SimulatedOperation operation) {
        check(!operation.isProhibited, "a prohibited request has succeeded: " + operation);
        operation.whenDone.run();
        confirmedChanges = operation.changesAfter;
        confirmedMessages += operation.takesReceive() ? 1 : 0;
        byte[] result = operation.result;
        int from = operation.resultOffset;
        check(
                Arrays.equals(memory.resultBytes, from, from + result.length, result, 0, result.length),
                "wrong bytes as the result of " + operation);
    }

    @Override
    public void end() {
        if (killed) {
            return;
        }
        broken = true;
        queuePair.toError();
        receives.end();
    }

    @Override
    public void checkEnd() {
        if (!killed && (broken || peer.broken)) {
            // Unsignaled requests that succeeded before the failure have no completion.
            unfinished.removeIf(operation -> !failed && !operation.signaled);
            check(unfinished.isEmpty(), "work requests without completion after the flush: " + unfinished);
            receives.checkFlushed();
        } else if (!killed) {
            check(unfinished.isEmpty() && receives.isEmpty(), "unfinished work is left");
        }
        check(
                confirmedMessages <= peer.receives.received(),
                confirmedMessages + " messages are reported as sent, but the peer has " + peer.receives.received());
        String difference = peer == this
                ? null
                : MemoryChange.explain(peer.memory.targetCopy(), model, changes, confirmedChanges, mtuBytes);
        check(difference == null, "the peer's memory " + difference);
        check(memory.isIntact(), "memory beside a region was written");
        if (killed) {
            return;
        }
        check(queuePair.nextDeadlineNanos() == Long.MAX_VALUE, "a timer is still running");
        host.remove(queuePair);
        windows.release();
        memory.release();
    }

    private void check(boolean condition, @Nullable String message) {
        if (!condition) {
            throw new SimulationFailure(name + ": " + message);
        }
    }
}

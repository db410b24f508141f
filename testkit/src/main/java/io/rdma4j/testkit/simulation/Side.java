package io.rdma4j.testkit.simulation;

import io.rdma4j.testkit.SimulatedHost;
import io.rdma4j.transport.AccessFlags;
import io.rdma4j.transport.AsyncEvent;
import io.rdma4j.transport.Completion;
import io.rdma4j.transport.MemoryRegion;
import io.rdma4j.transport.QueuePairMachine;
import io.rdma4j.transport.RcQueuePair;
import io.rdma4j.transport.ReceiveRequest;
import io.rdma4j.transport.ScatterGather;
import io.rdma4j.transport.SendRequest;
import io.rdma4j.transport.WorkOpcode;
import io.rdma4j.transport.WorkStatus;
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
 * One side of a connection in a run: it posts random work, keeps the model of what that work must do, and checks every
 * completion against it.
 *
 * <p>The model is sequential: a responder executes requests in the order of their posting, so the memory after them, the
 * result of each READ and atomic, and each message are known when a request is posted. One thing alone is not: a READ
 * that was lost is executed again, maybe after later WRITEs to the same bytes. So a change that follows a READ is fenced
 * here, as an application has to do it.
 *
 * <p>Where a connection ends early, this is left of it: the peer's memory is as after some of the requests, in their order, of
 * which the last may be done in part, packet by packet; and of that and of the messages received there is no less than what
 * was reported as done here.
 */
final class Side implements ConnectedSide {
    private static final int CANARY_BYTES = 64;
    private static final int TARGET_BYTES = 16_384;
    private static final int SOURCE_BYTES = 65_536;
    static final int RECEIVE_SLACK_BYTES = 24;

    private final String name;
    private final SplittableRandom random;
    private final SimulatedHost host;
    private final RunParameters parameters;
    private final @Nullable ReceivePool pool;
    private final BooleanSupplier mayBreak;
    private final RcQueuePair queuePair;
    private final int startingPsn;
    private final int servedReads;
    private final QueuePairMachine.Configuration configuration;

    private final byte[] targetBytes;
    private final MemoryRegion target;
    private final byte[] sourceBytes;
    private final MemoryRegion source;
    private final byte[] resultBytes;
    private final MemoryRegion results;
    private final byte[] receiveBytes;
    private final MemoryRegion receives;

    private final byte[] canaries;

    /** What the peer's target memory must hold after all that was posted here. */
    private byte[] model = new byte[0];

    private int resultsUsed;
    private int receivesUsed;
    private int planned;
    private long nextId;
    private boolean readSinceFence;
    private int mtuBytes;
    private boolean started;
    private boolean dead;
    private boolean heard;
    private boolean failed;
    private final List<MemoryChange> changes = new ArrayList<>();
    private int confirmedChanges;
    private int confirmedMessages;
    private int receivedMessages;
    private final ArrayDeque<Operation> unfinished = new ArrayDeque<>();
    private final ArrayDeque<ExpectedReceive> expected = new ArrayDeque<>();
    private final ArrayDeque<int[]> postedReceives = new ArrayDeque<>();
    private int receivesWanted;
    private boolean broken;
    private Side peer = this;

    /**
     * Creates a side.
     *
     * @param role what its queue pair does; a target posts nothing
     * @param pool where its receives come from, or null for its own
     * @param mayBreak whether there is a reason for the peer to be out of reach
     */
    Side(
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
        this.pool = pool;
        this.mayBreak = mayBreak;
        this.random = random;
        planned = role == RcQueuePair.Role.TARGET ? 0 : random.nextInt(0, parameters.operationsPerSide() + 1);
        startingPsn = ConnectedSide.startingPsn(random);
        servedReads = random.nextInt(1, 9);
        targetBytes = bytes(TARGET_BYTES + 2 * CANARY_BYTES);
        target = host.memory()
                .register(
                        MemorySegment.ofArray(targetBytes).asSlice(CANARY_BYTES, TARGET_BYTES),
                        alignedAddress(),
                        AccessFlags.LOCAL_WRITE
                                | AccessFlags.REMOTE_WRITE
                                | AccessFlags.REMOTE_READ
                                | AccessFlags.REMOTE_ATOMIC,
                        1);
        canaries = canaries();
        sourceBytes = bytes(SOURCE_BYTES);
        source = register(sourceBytes, 0);
        resultBytes = bytes(planned * parameters.maxMessageBytes() + CANARY_BYTES);
        results = register(resultBytes, AccessFlags.LOCAL_WRITE);
        int receiveBytesEach = parameters.maxMessageBytes() + RECEIVE_SLACK_BYTES;
        receiveBytes = bytes((parameters.operationsPerSide() + 1) * receiveBytesEach);
        receives = register(receiveBytes, AccessFlags.LOCAL_WRITE);
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
                this::onReceiveCompletion,
                event -> heard |= event == AsyncEvent.COMMUNICATION_ESTABLISHED);
        queuePair.toInit(AccessFlags.REMOTE_WRITE | AccessFlags.REMOTE_READ | AccessFlags.REMOTE_ATOMIC);
        host.add(queuePair);
    }

    private byte[] bytes(int count) {
        byte[] bytes = new byte[count];
        random.nextBytes(bytes);
        return bytes;
    }

    private long alignedAddress() {
        return random.nextLong() & 0x7fff_ffff_ffff_f000L;
    }

    private MemoryRegion register(byte[] bytes, int access) {
        return host.memory().register(MemorySegment.ofArray(bytes), alignedAddress(), access, 1);
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
    public byte[] greeting() {
        return new byte[0];
    }

    @Override
    public void meet(ConnectedSide other) {
        peer = (Side) other;
        model = peer.targetMemory();
    }

    private byte[] targetMemory() {
        return Arrays.copyOfRange(targetBytes, CANARY_BYTES, CANARY_BYTES + TARGET_BYTES);
    }

    @Override
    public void ready(ConnectionTerms other, byte[] greeting, int pathMtuBytes) {
        mtuBytes = pathMtuBytes;
        queuePair.toReadyToReceive(new RcQueuePair.ReceiveParameters(
                ConnectedSide.path(host, other),
                pathMtuBytes,
                other.startingPsn(),
                servedReads,
                random.nextInt(1, 15)));
        queuePair.toReadyToSend(new RcQueuePair.SendParameters(
                startingPsn, other.servedReads(), 7, 7, random.nextInt(9, 14), random.nextBoolean()));
    }

    @Override
    public void start() {
        started = true;
    }

    @Override
    public boolean isDone() {
        return broken || planned == 0 && unfinished.isEmpty() && expected.isEmpty();
    }

    /** Whether the queue pair has given up; the only good reason is a peer that could not be reached. */
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
    public boolean isGone() {
        return broken;
    }

    @Override
    public boolean hasHeard() {
        return heard;
    }

    @Override
    public boolean isDead() {
        return dead;
    }

    @Override
    public void die() {
        dead = true;
        broken = true;
    }

    /** Posts some of the work that is left, as far as the queues take it. */
    @Override
    public void work(long nowNanos) {
        if (broken || !started) {
            return;
        }
        for (int i = random.nextInt(3); i > 0 && planned > 0; i--) {
            if (!postSend()) {
                break;
            }
            planned--;
        }
        if (pool != null) {
            pool.payBack();
        }
        // A receive that comes late makes the peer wait (RNR); it does come.
        if (random.nextInt(3) != 0) {
            for (int i = random.nextInt(1, 4); i > 0 && receivesWanted > 0 && postReceive(); i--) {
                receivesWanted--;
            }
        }
    }

    private boolean postReceive() {
        if (pool != null) {
            return pool.post();
        }
        ReceiveRequest request = queuePair.receiveQueue().claim();
        if (request == null) {
            return false;
        }
        int size = parameters.maxMessageBytes() + random.nextInt(RECEIVE_SLACK_BYTES);
        request.workRequestId = nextId++;
        split(request.list, receives, receivesUsed, size);
        postedReceives.add(new int[] {(int) request.workRequestId, receivesUsed, size});
        receivesUsed += size;
        queuePair.receiveQueue().publish();
        return true;
    }

    private boolean postSend() {
        SendRequest request = queuePair.sendQueue().claim();
        if (request == null) {
            return false;
        }
        WorkOpcode[] opcodes = WorkOpcode.values();
        WorkOpcode opcode = opcodes[random.nextInt(opcodes.length)];
        if (opcode == WorkOpcode.SEND_WITH_INVALIDATE || opcode.isLocal()) {
            opcode = WorkOpcode.SEND;
        }
        request.workRequestId = nextId++;
        request.opcode = opcode;
        request.signaled = configuration.signalAll() || planned == 1 || random.nextBoolean();
        request.solicited = random.nextBoolean();
        request.fence = random.nextInt(8) == 0;
        request.inline = false;
        request.immediate = random.nextInt();
        request.list.clear();
        Operation operation = switch (opcode) {
            case RDMA_READ -> read(request);
            case COMPARE_AND_SWAP, FETCH_AND_ADD -> atomic(request);
            case RDMA_WRITE, RDMA_WRITE_WITH_IMMEDIATE -> write(request);
            default -> send(request);
        };
        if (request.fence) {
            readSinceFence = false;
        }
        if (opcode == WorkOpcode.RDMA_READ) {
            readSinceFence = true;
        }
        if (queuePair.role() == RcQueuePair.Role.INITIATOR) {
            request.remoteSharedReceiveQueue = peer.sharedQueueNumber();
        }
        unfinished.add(operation);
        queuePair.sendQueue().publish();
        return true;
    }

    private int sharedQueueNumber() {
        return pool == null ? 0 : pool.queue().number();
    }

    private Operation send(SendRequest request) {
        byte[] message = message(request, parameters.maxMessageBytes());
        boolean immediate = request.opcode == WorkOpcode.SEND_WITH_IMMEDIATE;
        peer.expect(new ExpectedReceive(message, message.length, immediate ? request.immediate : null, false));
        return new Operation(request, message.length, 0, new byte[0], changes.size());
    }

    private Operation write(SendRequest request) {
        byte[] message = message(request, Math.min(parameters.maxMessageBytes(), TARGET_BYTES));
        int offset = random.nextInt(TARGET_BYTES - message.length + 1);
        remote(request, offset);
        request.fence |= readSinceFence;
        change(offset, message, false);
        if (request.opcode == WorkOpcode.RDMA_WRITE_WITH_IMMEDIATE) {
            peer.expect(new ExpectedReceive(new byte[0], message.length, request.immediate, true));
        }
        return new Operation(request, message.length, 0, new byte[0], changes.size());
    }

    private Operation read(SendRequest request) {
        int length = length(Math.min(parameters.maxMessageBytes(), TARGET_BYTES));
        int offset = random.nextInt(TARGET_BYTES - length + 1);
        remote(request, offset);
        return withResult(request, Arrays.copyOfRange(model, offset, offset + length));
    }

    private Operation atomic(SendRequest request) {
        int offset = random.nextInt(TARGET_BYTES / 8) * 8;
        remote(request, offset);
        request.fence |= readSinceFence;
        MemorySegment memory = MemorySegment.ofArray(model);
        ValueLayout.OfLong layout = ValueLayout.JAVA_LONG_UNALIGNED.withOrder(ByteOrder.nativeOrder());
        long old = memory.get(layout, offset);
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

    private void change(int offset, byte[] after, boolean isWhole) {
        byte[] before = Arrays.copyOfRange(model, offset, offset + after.length);
        changes.add(new MemoryChange(offset, before, after, isWhole));
        System.arraycopy(after, 0, model, offset, after.length);
    }

    private Operation withResult(SendRequest request, byte[] result) {
        int offset = resultsUsed;
        resultsUsed += result.length;
        if (request.opcode == WorkOpcode.RDMA_READ) {
            split(request.list, results, offset, result.length);
        } else {
            request.list.add(results, offset, result.length);
        }
        request.lengthBytes = result.length;
        return new Operation(request, result.length, offset, result, changes.size());
    }

    private void remote(SendRequest request, int offset) {
        request.remoteAddress = peer.target.address() + offset;
        request.remoteKey = peer.target.key();
    }

    /** Chooses what is sent, from random places of the source memory or inline. */
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
            int from = random.nextInt(SOURCE_BYTES - piece + 1);
            request.list.add(source, from, piece);
            System.arraycopy(sourceBytes, from, message, done, piece);
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

    private void expect(ExpectedReceive receive) {
        expected.add(receive);
        receivesWanted++;
    }

    private void onSendCompletion(Completion completion) {
        check(completion.queuePairNumber == queuePair.number(), "a completion of another queue pair");
        if (completion.status != WorkStatus.SUCCESS) {
            onSendFailure(completion);
            return;
        }
        check(!broken, "a success after the queue pair broke");
        Operation operation = unfinished.poll();
        while (operation != null && !operation.signaled) {
            confirm(operation);
            operation = unfinished.poll();
        }
        check(operation != null, "a completion too many: " + completion.workRequestId);
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

    private void onSendFailure(Completion completion) {
        if (!broken) {
            check(
                    completion.status == WorkStatus.RETRY_EXCEEDED_ERROR && (mayBreak.getAsBoolean() || peer.broken),
                    "work request " + completion.workRequestId + " ended with " + completion.status);
            broken = true;
        } else {
            check(
                    completion.status == WorkStatus.WORK_REQUEST_FLUSHED_ERROR,
                    "status " + completion.status + " after the queue pair broke");
        }
        // Successes that nobody asked to hear of; after the first failure there are none.
        while (!failed && !unfinished.isEmpty() && unfinished.peek().id != completion.workRequestId) {
            check(!unfinished.peek().signaled, "no completion of " + unfinished.peek());
            confirm(unfinished.remove());
        }
        failed = true;
        Operation operation = unfinished.poll();
        check(
                operation != null && operation.id == completion.workRequestId,
                "flushed " + completion.workRequestId + " instead of " + operation);
    }

    private void confirm(Operation operation) {
        confirmedChanges = operation.changesAfter;
        confirmedMessages += operation.takesReceive() ? 1 : 0;
        byte[] result = operation.result;
        int from = operation.resultOffset;
        check(
                Arrays.equals(resultBytes, from, from + result.length, result, 0, result.length),
                "wrong bytes as the result of " + operation);
    }

    private void onReceiveCompletion(Completion completion) {
        int[] posted = postedReceives.poll();
        check(
                pool != null || posted != null && posted[0] == completion.workRequestId,
                "receive " + completion.workRequestId + " out of order");
        if (completion.status != WorkStatus.SUCCESS) {
            check(
                    completion.status == WorkStatus.WORK_REQUEST_FLUSHED_ERROR,
                    "a receive ended with " + completion.status);
            if (pool != null) {
                check(
                        pool.complete(completion.workRequestId, new byte[0]),
                        "shared receive " + completion.workRequestId + " flushed, but not posted");
                pool.owe(1);
            }
            return;
        }
        ExpectedReceive receive = expected.poll();
        check(receive != null, "a receive completed that nobody sent to");
        if (receive == null) {
            return;
        }
        check(completion.isReceive, "a receive reported as a send");
        check(completion.isReceiveOfWrite == receive.isWrite, "SEND and WRITE confused");
        check(
                completion.byteLength == receive.byteLength,
                "received " + completion.byteLength + " bytes instead of " + receive.byteLength);
        check(
                completion.hasImmediate == (receive.immediate != null)
                        && (receive.immediate == null || receive.immediate == completion.immediate),
                "wrong immediate data");
        byte[] message = receive.message;
        boolean isRight = pool != null
                ? pool.complete(completion.workRequestId, message)
                : posted != null
                        && Arrays.equals(
                                receiveBytes, posted[1], posted[1] + message.length, message, 0, message.length);
        receivedMessages++;
        check(isRight, "wrong bytes in a message of " + message.length + ", or in a receive that was not posted");
    }

    @Override
    public void end() {
        if (dead) {
            return;
        }
        broken = true;
        queuePair.toError();
        if (pool != null) {
            pool.owe(receivesWanted);
            receivesWanted = 0;
        }
    }

    @Override
    public void checkEnd() {
        if (!dead && (broken || peer.broken)) {
            check(unfinished.isEmpty(), "work requests without completion after the flush: " + unfinished);
            check(postedReceives.isEmpty(), "receives without completion after the flush");
        } else if (!dead) {
            check(unfinished.isEmpty() && expected.isEmpty(), "work is left over");
        }
        check(
                confirmedMessages <= peer.receivedMessages,
                confirmedMessages + " messages are reported as sent, but the peer has " + peer.receivedMessages);
        String difference = peer == this
                ? null
                : MemoryChange.explain(peer.targetMemory(), model, changes, confirmedChanges, mtuBytes);
        check(difference == null, "the peer's memory " + difference);
        check(Arrays.equals(canaries, canaries()), "memory beside a region was written");
        if (dead) {
            return;
        }
        check(queuePair.nextDeadlineNanos() == Long.MAX_VALUE, "a timer is left over");
        host.remove(queuePair);
        host.memory().deregister(target);
        host.memory().deregister(source);
        host.memory().deregister(results);
        host.memory().deregister(receives);
    }

    /** A picture of the memory around the target, to see that nothing writes beside it. */
    private byte[] canaries() {
        byte[] beside = Arrays.copyOf(targetBytes, 2 * CANARY_BYTES);
        System.arraycopy(targetBytes, CANARY_BYTES + TARGET_BYTES, beside, CANARY_BYTES, CANARY_BYTES);
        return beside;
    }

    private void check(boolean condition, @Nullable String message) {
        if (!condition) {
            throw new SimulationFailure(name + ": " + message);
        }
    }
}

package io.rdma4j.testkit.simulation;

import io.rdma4j.testkit.SimulatedHost;
import io.rdma4j.transport.AccessFlags;
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
import java.util.Arrays;
import java.util.SplittableRandom;
import org.jspecify.annotations.Nullable;

/**
 * One side of a connection in a run: it posts random work, keeps the model of what that work must do, and checks every
 * completion against it.
 *
 * <p>The model is sequential: a responder executes requests in the order of their posting, so the memory after them, the
 * result of each READ and atomic, and each message are known when a request is posted. One thing alone is not: a READ
 * that was lost is executed again, maybe after later WRITEs to the same bytes. So a change that follows a READ is fenced
 * here, as an application has to do it.
 */
final class Side {
    private static final int CANARY_BYTES = 64;
    private static final int TARGET_BYTES = 16_384;
    private static final int SOURCE_BYTES = 65_536;
    static final int RECEIVE_SLACK_BYTES = 24;

    private final String name;
    private final SplittableRandom random;
    private final SimulatedHost host;
    private final RunParameters parameters;
    private final @Nullable ReceivePool pool;
    final RcQueuePair queuePair;
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
    private final ArrayDeque<Operation> unfinished = new ArrayDeque<>();
    private final ArrayDeque<ExpectedReceive> expected = new ArrayDeque<>();
    private final ArrayDeque<int[]> postedReceives = new ArrayDeque<>();
    private int receivesWanted;
    private boolean broken;
    private Side peer = this;

    /** Creates a side; its receives come from the pool, or are its own if that is null. */
    Side(
            String name,
            SimulatedHost host,
            RunParameters parameters,
            @Nullable ReceivePool pool,
            SplittableRandom random) {
        this.name = name;
        this.host = host;
        this.parameters = parameters;
        this.pool = pool;
        this.random = random;
        planned = random.nextInt(0, parameters.operationsPerSide() + 1);
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
                pool == null ? null : pool.queue(),
                null);
        queuePair = new RcQueuePair(
                host.unusedQueuePairNumber(),
                configuration,
                host.memory(),
                this::onSendCompletion,
                this::onReceiveCompletion,
                event -> {});
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

    /** Connects both sides; every parameter that they need not agree on is drawn. */
    static void connect(Side a, Side b, SplittableRandom random) {
        a.peer = b;
        b.peer = a;
        int mtu = 256 << random.nextInt(5);
        int psnA = startingPsn(random);
        int psnB = startingPsn(random);
        int readsToB = random.nextInt(1, 9);
        int readsToA = random.nextInt(1, 9);
        a.enable(random, mtu, psnA, psnB, readsToB, readsToA);
        b.enable(random, mtu, psnB, psnA, readsToA, readsToB);
        a.model = Arrays.copyOfRange(b.targetBytes, CANARY_BYTES, CANARY_BYTES + TARGET_BYTES);
        b.model = Arrays.copyOfRange(a.targetBytes, CANARY_BYTES, CANARY_BYTES + TARGET_BYTES);
    }

    /** One run in two wraps around the end of the PSNs. */
    private static int startingPsn(SplittableRandom random) {
        return random.nextBoolean() ? 0xff_ffff - random.nextInt(40) : random.nextInt(1 << 24);
    }

    private void enable(SplittableRandom r, int mtu, int sendPsn, int receivePsn, int reads, int servedReads) {
        queuePair.toInit(AccessFlags.REMOTE_WRITE | AccessFlags.REMOTE_READ | AccessFlags.REMOTE_ATOMIC);
        QueuePairMachine.Peer path = new QueuePairMachine.Peer(
                host.addressHigh(),
                host.addressLow(),
                peer.host.addressHigh(),
                peer.host.addressLow(),
                0,
                peer.queuePair.number(),
                0,
                64,
                0);
        queuePair.toReadyToReceive(
                new RcQueuePair.ReceiveParameters(path, mtu, receivePsn, servedReads, r.nextInt(1, 15)));
        queuePair.toReadyToSend(
                new RcQueuePair.SendParameters(sendPsn, reads, 7, 7, r.nextInt(9, 14), r.nextBoolean()));
    }

    /** Whether all planned work is posted, finished and received. */
    boolean isDone() {
        return broken || planned == 0 && unfinished.isEmpty() && expected.isEmpty();
    }

    /** Whether the queue pair has given up; the only good reason is a peer that could not be reached. */
    boolean isBroken() {
        return broken;
    }

    /** Posts some of the work that is left, as far as the queues take it. */
    void work() {
        if (broken) {
            return;
        }
        for (int i = random.nextInt(3); i > 0 && planned > 0; i--) {
            if (!postSend()) {
                break;
            }
            planned--;
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
        unfinished.add(operation);
        queuePair.sendQueue().publish();
        return true;
    }

    private Operation send(SendRequest request) {
        byte[] message = message(request, parameters.maxMessageBytes());
        boolean immediate = request.opcode == WorkOpcode.SEND_WITH_IMMEDIATE;
        peer.expect(new ExpectedReceive(message, message.length, immediate ? request.immediate : null, false));
        return new Operation(request, message.length, 0, new byte[0]);
    }

    private Operation write(SendRequest request) {
        byte[] message = message(request, Math.min(parameters.maxMessageBytes(), TARGET_BYTES));
        int offset = random.nextInt(TARGET_BYTES - message.length + 1);
        remote(request, offset);
        request.fence |= readSinceFence;
        System.arraycopy(message, 0, model, offset, message.length);
        if (request.opcode == WorkOpcode.RDMA_WRITE_WITH_IMMEDIATE) {
            peer.expect(new ExpectedReceive(new byte[0], message.length, request.immediate, true));
        }
        return new Operation(request, message.length, 0, new byte[0]);
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
        if (add || request.compare == old) {
            memory.set(layout, offset, add ? old + request.swapOrAdd : request.swapOrAdd);
        }
        byte[] result = new byte[8];
        MemorySegment.ofArray(result).set(layout, 0, old);
        return withResult(request, result);
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
        return new Operation(request, result.length, offset, result);
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
            checkResult(operation);
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
            checkResult(operation);
        }
    }

    private void onSendFailure(Completion completion) {
        if (!broken) {
            check(
                    completion.status == WorkStatus.RETRY_EXCEEDED_ERROR
                            || completion.status == WorkStatus.WORK_REQUEST_FLUSHED_ERROR && peer.broken,
                    "work request " + completion.workRequestId + " ended with " + completion.status);
            broken = true;
            while (!unfinished.isEmpty() && unfinished.peek().id != completion.workRequestId) {
                check(!unfinished.peek().signaled, "no completion of " + unfinished.peek());
                checkResult(unfinished.remove());
            }
        } else {
            check(
                    completion.status == WorkStatus.WORK_REQUEST_FLUSHED_ERROR,
                    "status " + completion.status + " after the queue pair broke");
        }
        Operation operation = unfinished.poll();
        check(
                operation != null && operation.id == completion.workRequestId,
                "flushed " + completion.workRequestId + " instead of " + operation);
    }

    private void checkResult(Operation operation) {
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
            check(
                    pool == null || pool.complete(completion.workRequestId, new byte[0]),
                    "shared receive " + completion.workRequestId + " flushed, but not posted");
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
        check(isRight, "wrong bytes in a message of " + message.length + ", or in a receive that was not posted");
    }

    /** Breaks this side as its application would, when it learns that the peer has given up. */
    void giveUp() {
        broken = true;
        queuePair.toError();
    }

    /** Checks all that must hold when everything is done. */
    void checkEnd() {
        if (broken || peer.broken) {
            check(unfinished.isEmpty(), "work requests without completion after the flush: " + unfinished);
            check(postedReceives.isEmpty(), "receives without completion after the flush");
        } else {
            check(unfinished.isEmpty() && expected.isEmpty(), "work is left over");
            byte[] memory = Arrays.copyOfRange(peer.targetBytes, CANARY_BYTES, CANARY_BYTES + TARGET_BYTES);
            int difference = Arrays.mismatch(model, memory);
            check(difference < 0, "the peer's memory differs from the model at byte " + difference);
        }
        check(Arrays.equals(canaries, canaries()), "memory beside a region was written");
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

    private void check(boolean condition, String message) {
        if (!condition) {
            throw new SimulationFailure(name + ": " + message);
        }
    }
}

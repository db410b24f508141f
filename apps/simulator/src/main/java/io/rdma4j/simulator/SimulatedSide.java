package io.rdma4j.simulator;

import io.rdma4j.simulator.network.SimulatedHost;
import io.rdma4j.transport.Completion;
import io.rdma4j.transport.QueuePairEvent;
import io.rdma4j.transport.QueuePairMachine;
import io.rdma4j.transport.RcQueuePair;
import io.rdma4j.transport.SendRequest;
import io.rdma4j.value.AccessFlag;
import io.rdma4j.value.CompletionStatus;
import io.rdma4j.value.QueuePairState;
import java.util.ArrayDeque;
import java.util.Arrays;
import java.util.SplittableRandom;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;

/**
 * One side of a reliable connection in a run.
 *
 * <p>It posts random work, maintains the model of the expected effects, and checks every completion against it.
 *
 * <p>The model is sequential: a responder executes requests in the order in which they were posted. Therefore the
 * memory, the result of each READ and atomic, and each message are known when a request is posted. There is one
 * exception: a READ whose response was lost is executed again, possibly after later WRITEs to the same bytes. A change
 * that follows a READ is therefore fenced, as an application would have to fence it.
 *
 * <p>If a connection ends early, the peer's memory must match the model after some of the requests, in their order. The
 * last of them may be partial, packet by packet. The memory and the received messages must include everything that was
 * reported as completed on this side.
 */
final class SimulatedSide implements ConnectedSide {
    private static final int DRAINS = 100;

    /** Requests of a busy side as a multiple of the usual number. */
    private static final int BUSY_FACTOR = 2;

    /**
     * Packets per second at the lowest rate limit. A packet takes less time than the shortest timeout, so that a peer
     * that waits for the response to a READ does not exhaust its retries.
     */
    private static final long SLOWEST_PACKETS_PER_SECOND = 1_000;

    private static final int HEADER_BYTES = 100;
    private static final int MAX_PAYLOAD_BYTES = 4096;

    /** Number of rate limits, each twice the previous limit. */
    private static final int RATE_DOUBLINGS = 6;

    /** Retry count of every connection. */
    static final int RETRIES = 7;

    private final String name;
    private final SplittableRandom random;
    private final SimulatedHost host;
    private final BooleanSupplier mayBreak;
    private final RcQueuePair queuePair;
    private final int startingPsn;
    private final int servedReads;

    /**
     * True if the side keeps a small send queue full, so that a slot is reused as soon as its request has completed.
     * Most local requests and rate limits also occur on such a side.
     */
    private final boolean isBusy;

    private final QueuePairMachine.Configuration configuration;

    final SideMemory memory;
    final SideWindows windows;
    final SideReceives receives;
    private final SideRequests requests;

    private int planned;
    private long nextId;
    private int mtuBytes;
    private boolean started;
    private boolean killed;
    private boolean hasReceived;
    private boolean failed;
    private int confirmedChanges;
    private int confirmedMessages;
    private final ArrayDeque<SimulatedOperation> unfinished = new ArrayDeque<>();
    private boolean broken;
    private SimulatedSide peer = this;
    private @Nullable IdleWatch watch;
    private @Nullable IdleWatches watches;

    /**
     * Creates a side.
     *
     * @param role role of the queue pair; a target posts nothing
     * @param pool the pool that its receives come from, or null for a separate queue
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
        this.mayBreak = mayBreak;
        this.random = random;
        isBusy = role == RcQueuePair.Role.CONNECTED && random.nextInt(3) == 0;
        int maxPlanned = (isBusy ? BUSY_FACTOR : 1) * parameters.operationsPerSide();
        planned = role == RcQueuePair.Role.TARGET ? 0 : random.nextInt(0, maxPlanned + 1);
        startingPsn = ConnectedSide.startingPsn(random);
        servedReads = random.nextInt(1, 9);
        int receiveBytesEach = parameters.maxMessageBytes() + SideReceives.SLACK_BYTES;
        memory = new SideMemory(
                host,
                planned * parameters.maxMessageBytes(),
                (BUSY_FACTOR * parameters.operationsPerSide() + 1) * receiveBytesEach,
                random);
        boolean hasWindows = role == RcQueuePair.Role.CONNECTED && (isBusy || random.nextInt(4) == 0);
        windows = new SideWindows(host, memory.target, hasWindows, random.split());
        receives =
                new SideReceives(name, memory, parameters.maxMessageBytes(), pool, windows::onRevoked, random.split());
        configuration = new QueuePairMachine.Configuration(
                isBusy ? 1 << random.nextInt(4) : random.nextInt(1, 12),
                random.nextInt(1, 12),
                4,
                4,
                random.nextInt(0, 200),
                random.nextInt(4) == 0,
                1,
                pool == null || role != RcQueuePair.Role.CONNECTED ? null : pool.queue(),
                pool == null || role != RcQueuePair.Role.TARGET ? null : pool.domain());
        requests = new SideRequests(parameters, memory, windows, configuration.maxInlineBytes(), random.split());
        queuePair = new RcQueuePair(
                role,
                host.unusedQueuePairNumber(),
                configuration,
                host.memory(),
                this::onSendCompletion,
                receives::onCompletion,
                this::onEvent);
        if (isBusy || random.nextInt(4) == 0) {
            int packetBytes = Math.min(parameters.maxMessageBytes(), MAX_PAYLOAD_BYTES) + HEADER_BYTES;
            queuePair.rateLimit(SLOWEST_PACKETS_PER_SECOND * packetBytes << random.nextInt(RATE_DOUBLINGS));
        }
        queuePair.toInit(AccessFlag.REMOTE_WRITE.bit()
                | AccessFlag.REMOTE_READ.bit()
                | AccessFlag.REMOTE_ATOMIC.bit()
                | AccessFlag.FLUSH_GLOBAL.bit());
        host.add(queuePair);
    }

    /**
     * Lets the side probe its peer while the connection is idle, and checks the probes.
     *
     * @param all the checks of the run
     * @param intervalNanos the interval
     */
    void keepAlive(IdleWatches all, long intervalNanos) {
        IdleWatch added = new IdleWatch(name, host, queuePair.number(), intervalNanos);
        watch = added;
        watches = all;
        all.add(added);
    }

    private void onEvent(QueuePairEvent event) {
        hasReceived |= event == QueuePairEvent.COMMUNICATION_ESTABLISHED;
        if (event == QueuePairEvent.QUEUE_PAIR_FATAL) {
            check(watch != null && watches != null && !broken, "the peer is given up without a keep-alive");
            if (watch != null && watches != null) {
                watch.onGivenUp(host.nowNanos(), mayBreak.getAsBoolean() || peer.broken);
                watches.onGivenUp();
            }
        }
    }

    private void endWatch() {
        if (watch != null && watches != null) {
            watches.remove(watch);
        }
    }

    @Override
    public long keepAliveNanos() {
        return watch == null ? 0 : watch.intervalNanos();
    }

    @Override
    public void onPaused() {
        if (watch != null) {
            watch.onPaused();
        }
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
        requests.setPeer(peer);
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
        RcQueuePair.SendParameters send = new RcQueuePair.SendParameters(
                startingPsn, other.servedReads(), RETRIES, 7, random.nextInt(9, 14), random.nextBoolean());
        queuePair.toReadyToSend(send);
        if (watch != null) {
            watch.onReady(send.timeoutExponent(), send.tailLossProbes(), RETRIES);
        }
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
        endWatch();
    }

    /** Posts some of the remaining work, as long as the queues have space. */
    @Override
    public void work(long nowNanos) {
        if (broken || !started) {
            return;
        }
        drainOrResume();
        probe(nowNanos);
        for (int i = isBusy ? planned : random.nextInt(3); i > 0 && planned > 0; i--) {
            if (!postSend()) {
                break;
            }
            planned--;
        }
        if (queuePair.state() == QueuePairState.ERROR) {
            end(); // a request of the peer was refused
            return;
        }
        receives.post(queuePair.receiveQueue());
    }

    private void probe(long nowNanos) {
        if (watch == null) {
            return;
        }
        boolean isBusy = !unfinished.isEmpty() || queuePair.state() != QueuePairState.READY_TO_SEND;
        if (watch.work(nowNanos, isBusy)) {
            queuePair.keepAlive(nowNanos, watch.intervalNanos());
        }
    }

    /** Occasionally drains the send queue, and resumes it later. */
    private void drainOrResume() {
        if (queuePair.state() == QueuePairState.READY_TO_SEND && random.nextInt(DRAINS) == 0) {
            queuePair.drain(random.nextBoolean());
        } else if (queuePair.state() == QueuePairState.SEND_QUEUE_DRAINED
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
        request.workRequestId = nextId++;
        request.signaled = configuration.signalAll() || planned == 1 || random.nextBoolean();
        SimulatedOperation operation = requests.fill(request, planned == 1);
        if (queuePair.role() == RcQueuePair.Role.INITIATOR) {
            request.remoteSharedReceiveQueue = peer.receives.sharedQueueNumber();
        }
        unfinished.add(operation);
        queuePair.sendQueue().publish();
        return true;
    }

    /** Returns whether a request that is not yet reported as completed may use a key. */
    boolean isUsing(int key) {
        return unfinished.stream().anyMatch(operation -> operation.remoteKey == key);
    }

    private void onSendCompletion(Completion completion) {
        check(completion.queuePairNumber == queuePair.number(), "a completion of another queue pair");
        if (completion.status != CompletionStatus.SUCCESS) {
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
    private boolean isPermitted(CompletionStatus status) {
        return switch (status) {
            case RETRY_EXCEEDED_ERROR -> mayBreak.getAsBoolean() || peer.broken || peer.requests.hasBrokenRules();
            case REMOTE_ACCESS_ERROR -> requests.hasBrokenRules();
            case WORK_REQUEST_FLUSHED_ERROR -> peer.requests.hasBrokenRules();
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
                    completion.status == CompletionStatus.WORK_REQUEST_FLUSHED_ERROR,
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
        endWatch();
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
        String difference = requests.difference(confirmedChanges, mtuBytes);
        check(difference == null, "the peer's memory " + difference);
        check(memory.isIntact(), "memory outside a region was written");
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

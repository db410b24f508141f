package io.rdma4j.acceptance.cases;

import io.rdma4j.acceptance.AcceptanceTest;
import io.rdma4j.acceptance.Outcome;
import io.rdma4j.acceptance.Scale;
import io.rdma4j.acceptance.TestStage;
import io.rdma4j.acceptance.traffic.VerbsSide;
import io.rdma4j.value.CompletionStatus;
import io.rdma4j.value.QueuePairState;
import io.rdma4j.verbs.MemoryRegion;
import io.rdma4j.verbs.QueuePair;
import io.rdma4j.verbs.QueuePairAttributes;
import io.rdma4j.verbs.ReceiveWorkRequest;
import io.rdma4j.verbs.SendWorkRequest;
import io.rdma4j.verbs.WorkCompletion;
import java.lang.foreign.Arena;
import java.net.InetAddress;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Arrays;
import java.util.Deque;
import java.util.Random;
import org.jspecify.annotations.Nullable;

/**
 * A thousand work requests are posted together, and a random one fails in one of five ways. The earlier ones succeed.
 * The failing one reports the status of its failure, whether signaled or not. All others of both queues are flushed,
 * once each and in posting order. Work requests posted later are also flushed.
 */
public final class FlushAfterError implements AcceptanceTest.Body {
    private static final int OUTSTANDING = 1000;
    /** Outstanding sends of the peer in the other direction. */
    private static final int PEER_SENDS = 100;

    private static final int SHORT_BYTES = 8;
    private static final int LONG_BYTES = 64;
    private static final long RECEIVE = 1L << 32;
    private static final Duration WAIT_LIMIT = Duration.ofSeconds(20);
    private static final long QUIET_NANOS = 100_000;

    /** A way in which the work request fails. */
    private enum Failure {
        /** It writes with a wrong key. */
        KEY(CompletionStatus.REMOTE_ACCESS_ERROR),
        /** It sends more than the receive can hold. */
        LENGTH(CompletionStatus.REMOTE_INVALID_REQUEST_ERROR),
        /** It finds no receive. */
        NO_RECEIVE(CompletionStatus.RNR_RETRY_EXCEEDED_ERROR),
        /** The peer no longer exists. */
        NO_PEER(CompletionStatus.RETRY_EXCEEDED_ERROR),
        /** The application moves the queue pair to the error state. */
        APPLICATION(CompletionStatus.WORK_REQUEST_FLUSHED_ERROR);

        private final CompletionStatus status;

        Failure(CompletionStatus status) {
            this.status = status;
        }

        /** Returns the default, but few retries if the failure depends on retries. */
        VerbsSide.RetryParameters retryParameters() {
            return new VerbsSide.RetryParameters(14, this == NO_PEER ? 3 : 7, this == NO_RECEIVE ? 1 : 7, 1);
        }

        /** Returns whether the peer's queue pair also fails. */
        boolean isNoticedByPeer() {
            return this == KEY || this == LENGTH;
        }
    }

    @Override
    public String required(Scale scale) {
        return "%d of %d rounds: of 1000 outstanding one fails, the rest flushed once, in order, both queues"
                .formatted(rounds(scale), rounds(scale));
    }

    private static int rounds(Scale scale) {
        return scale.of(100, 1000);
    }

    @Override
    public Outcome run(TestStage stage) throws Exception {
        long seed = Long.getLong("rdma4j.seed", System.nanoTime());
        int rounds = rounds(stage.scale());
        Random random = new Random(seed);
        InetAddress address = InetAddress.getLoopbackAddress();
        int entries = 4 * OUTSTANDING;
        try (VerbsSide active = new VerbsSide(address, entries, 0);
                VerbsSide passive = new VerbsSide(address, entries, 1);
                Arena arena = Arena.ofShared();
                MemoryRegion activeRegion = active.domain().register(arena.allocate(LONG_BYTES, 8), VerbsSide.ALL);
                MemoryRegion passiveRegion = passive.domain().register(arena.allocate(LONG_BYTES, 8), VerbsSide.ALL)) {
            for (int i = 0; i < rounds; i++) {
                Failure failure = Failure.values()[i % Failure.values().length];
                String wrong = new Round(active, activeRegion, passive, passiveRegion, failure, random).run();
                if (wrong != null) {
                    return Outcome.failed("round %d of -Drdma4j.seed=%d, %s: %s".formatted(i, seed, failure, wrong));
                }
            }
        }
        return Outcome.of(true, "%d of %d, five kinds of errors".formatted(rounds, rounds));
    }

    /** One connection until its last completion. */
    private static final class Round {
        private final Side active;
        private final Side passive;
        private final MemoryRegion remote;
        private final Failure failure;
        private final Random random;
        private final int failing;

        Round(
                VerbsSide active,
                MemoryRegion activeRegion,
                VerbsSide passive,
                MemoryRegion passiveRegion,
                Failure failure,
                Random random) {
            this.active = new Side("active", active, activeRegion);
            this.passive = new Side("passive", passive, passiveRegion);
            this.remote = passiveRegion;
            this.failure = failure;
            this.random = random;
            failing = random.nextInt(OUTSTANDING);
            VerbsSide.connect(
                    active, this.active.queuePair, passive, this.passive.queuePair, failure.retryParameters());
        }

        @Nullable
        String run() {
            SendWorkRequest[] requests = new SendWorkRequest[OUTSTANDING];
            int sends = 0;
            for (int i = 0; i < OUTSTANDING; i++) {
                requests[i] = new SendWorkRequest();
                sends += fill(requests[i], i) && i < failing ? 1 : 0;
            }
            boolean peerSends = failure != Failure.NO_RECEIVE && random.nextBoolean();
            boolean receivesLeft = failure.isNoticedByPeer();
            passive.postReceives(receivesLeft ? OUTSTANDING : sends);
            passive.receivesSucceed = sends;
            passive.firstReceiveError = failure == Failure.LENGTH
                    ? CompletionStatus.LOCAL_LENGTH_ERROR
                    : CompletionStatus.WORK_REQUEST_FLUSHED_ERROR;
            if (peerSends) {
                passive.postPeerSends();
            } else {
                active.postReceives(OUTSTANDING);
            }
            active.post(requests);
            active.expectSends(requests, failing, failure.status);
            causeFailure();
            String wrong = active.finish();
            if (wrong == null && failure != Failure.NO_PEER) {
                if (!failure.isNoticedByPeer()) {
                    passive.queuePair.modify(new QueuePairAttributes().state(QueuePairState.ERROR));
                }
                wrong = passive.finish();
            }
            active.queuePair.close();
            passive.queuePair.close();
            passive.drain();
            return wrong;
        }

        /** Fills in a work request. Returns whether it consumes a receive. */
        private boolean fill(SendWorkRequest request, int index) {
            request.reset(index);
            if (random.nextBoolean() || index == failing - 1) {
                request.signaled();
            }
            int kind = index == failing ? -1 : random.nextInt(4);
            int length = index == failing && failure == Failure.LENGTH ? LONG_BYTES : SHORT_BYTES;
            request.from(active.region, 0, length);
            if (kind < 0 && failure == Failure.KEY) {
                request.write(remote.address(), remote.remoteKey() ^ 0x100);
            } else if (kind == 1) {
                request.write(remote.address(), remote.remoteKey());
            } else if (kind == 2) {
                request.read(remote.address(), remote.remoteKey());
            } else if (kind == 3) {
                request.fetchAndAdd(remote.address(), remote.remoteKey(), 1);
            }
            return kind <= 0 && (kind == 0 || failure != Failure.KEY);
        }

        /** Causes failures that no work request causes by itself, after the previous work request has succeeded. */
        private void causeFailure() {
            if (failure == Failure.NO_PEER) {
                active.awaitSend(failing);
                passive.queuePair.modify(new QueuePairAttributes().state(QueuePairState.RESET));
            } else if (failure == Failure.APPLICATION) {
                active.awaitSend(failing);
                active.queuePair.modify(new QueuePairAttributes().state(QueuePairState.ERROR));
            }
        }
    }

    /** An expected completion. */
    private record Expected(long id, CompletionStatus status) {}

    /** One side with the completions that it expects. */
    private static final class Side {
        private final String name;
        private final VerbsSide side;
        private final MemoryRegion region;
        private final QueuePair queuePair;
        private final WorkCompletion[] batch = WorkCompletion.array(64);
        private final Deque<Expected> expectedSends = new ArrayDeque<>();
        private int receivesPosted;
        private int receivesDone;
        private int receivesSucceed;
        private CompletionStatus firstReceiveError = CompletionStatus.WORK_REQUEST_FLUSHED_ERROR;
        private @Nullable String wrong;

        Side(String name, VerbsSide side, MemoryRegion region) {
            this.name = name;
            this.side = side;
            this.region = region;
            queuePair = side.queuePair(OUTSTANDING, OUTSTANDING);
        }

        void postReceives(int count) {
            ReceiveWorkRequest[] receives = new ReceiveWorkRequest[count];
            Arrays.setAll(
                    receives,
                    i -> new ReceiveWorkRequest()
                            .reset(RECEIVE + receivesPosted++)
                            .into(region, 0, SHORT_BYTES));
            queuePair.postReceives(receives, count);
        }

        /** Posts sends that wait for receives, which are never posted. */
        void postPeerSends() {
            SendWorkRequest[] sends = new SendWorkRequest[PEER_SENDS];
            Arrays.setAll(sends, i -> new SendWorkRequest().reset(i).from(region, 0, SHORT_BYTES));
            post(sends);
            expectSends(sends, 0, CompletionStatus.WORK_REQUEST_FLUSHED_ERROR);
        }

        void post(SendWorkRequest[] requests) {
            queuePair.postSends(requests, requests.length);
        }

        void expectSends(SendWorkRequest[] requests, int failing, CompletionStatus failure) {
            for (int i = 0; i < requests.length; i++) {
                if (i < failing && requests[i].isSignaled()) {
                    expectedSends.add(new Expected(requests[i].id(), CompletionStatus.SUCCESS));
                } else if (i == failing) {
                    expectedSends.add(new Expected(requests[i].id(), failure));
                } else if (i > failing) {
                    expectedSends.add(new Expected(requests[i].id(), CompletionStatus.WORK_REQUEST_FLUSHED_ERROR));
                }
            }
        }

        /** Waits until the next expected send completion is the one with this ID. */
        void awaitSend(long id) {
            long deadline = System.nanoTime() + WAIT_LIMIT.toNanos();
            while (wrong == null && expectedSends.element().id() < id && System.nanoTime() < deadline) {
                poll();
            }
        }

        /**
         * Polls until all expected completions are reported, and briefly after that. Returns the mistake, or null.
         */
        @Nullable
        String finish() {
            long deadline = System.nanoTime() + WAIT_LIMIT.toNanos();
            while (wrong == null && isCompletionExpected()) {
                poll();
                if (System.nanoTime() > deadline) {
                    return "%s: %d sends and %d of %d receives not completed"
                            .formatted(name, expectedSends.size(), receivesPosted - receivesDone, receivesPosted);
                }
            }
            if (wrong == null) {
                postInError();
            }
            long quietUntil = System.nanoTime() + QUIET_NANOS;
            while (wrong == null && (isCompletionExpected() || System.nanoTime() < quietUntil)) {
                poll();
                if (System.nanoTime() > deadline) {
                    return name + ": work requests posted in the error state are not flushed";
                }
            }
            return wrong;
        }

        private boolean isCompletionExpected() {
            return !expectedSends.isEmpty() || receivesDone < receivesPosted;
        }

        /** Removes all completions from the completion queue, which other rounds use. */
        void drain() {
            while (side.completions().poll(batch) > 0) {
                receivesDone++;
            }
        }

        private void postInError() {
            if (queuePair.state() != QueuePairState.ERROR) {
                wrong = name + ": in the state " + queuePair.state() + " after an error";
                return;
            }
            queuePair.postSend(new SendWorkRequest().reset(OUTSTANDING).from(region, 0, SHORT_BYTES));
            expectedSends.add(new Expected(OUTSTANDING, CompletionStatus.WORK_REQUEST_FLUSHED_ERROR));
            postReceives(1);
        }

        private void poll() {
            int count = side.completions().poll(batch);
            for (int i = 0; i < count && wrong == null; i++) {
                if (batch[i].id() >= RECEIVE) {
                    checkReceive(batch[i]);
                } else {
                    Expected expected = expectedSends.poll();
                    require(
                            expected != null
                                    && batch[i].id() == expected.id()
                                    && batch[i].status() == expected.status(),
                            batch[i],
                            expected);
                }
            }
        }

        private void checkReceive(WorkCompletion completion) {
            CompletionStatus status = receivesDone < receivesSucceed
                    ? CompletionStatus.SUCCESS
                    : receivesDone == receivesSucceed ? firstReceiveError : CompletionStatus.WORK_REQUEST_FLUSHED_ERROR;
            Expected expected = new Expected(RECEIVE + receivesDone++, status);
            require(completion.id() == expected.id() && completion.status() == status, completion, expected);
        }

        private void require(boolean isRight, WorkCompletion completion, @Nullable Expected expected) {
            if (!isRight) {
                wrong = "%s: %s, expected %s".formatted(name, completion, expected);
            }
        }
    }
}

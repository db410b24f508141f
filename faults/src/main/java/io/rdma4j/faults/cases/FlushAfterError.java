package io.rdma4j.faults.cases;

import io.rdma4j.faults.AcceptanceTest;
import io.rdma4j.faults.Outcome;
import io.rdma4j.faults.Scale;
import io.rdma4j.faults.TestStage;
import io.rdma4j.faults.traffic.VerbsSide;
import io.rdma4j.verbs.CompletionStatus;
import io.rdma4j.verbs.MemoryRegion;
import io.rdma4j.verbs.QueuePair;
import io.rdma4j.verbs.QueuePairAttributes;
import io.rdma4j.verbs.QueuePairState;
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
 * 17: a thousand work requests are posted at once, and a random one of them fails, in one of five ways. Those before it
 * succeed, that one has the status of its failure, whether it was signaled or not, and all others of both queues are flushed,
 * once each and in the order in which they were posted. What is posted after that is flushed too.
 */
public final class FlushAfterError implements AcceptanceTest {
    private static final int OUTSTANDING = 1000;
    /** Sends that the peer has under way in the other direction. */
    private static final int ANSWERS = 100;

    private static final int SHORT_BYTES = 8;
    private static final int LONG_BYTES = 64;
    private static final long RECEIVE = 1L << 32;
    private static final Duration PATIENCE = Duration.ofSeconds(20);
    private static final long QUIET_NANOS = 100_000;

    /** How the work request fails. */
    private enum Failure {
        /** It writes with a wrong key. */
        KEY(CompletionStatus.REMOTE_ACCESS_ERROR),
        /** It sends more than the receive takes. */
        LENGTH(CompletionStatus.REMOTE_INVALID_REQUEST_ERROR),
        /** It finds no receive. */
        NO_RECEIVE(CompletionStatus.RNR_RETRY_EXCEEDED_ERROR),
        /** The peer is gone. */
        NO_PEER(CompletionStatus.RETRY_EXCEEDED_ERROR),
        /** The application gives up. */
        APPLICATION(CompletionStatus.WORK_REQUEST_FLUSHED_ERROR);

        private final CompletionStatus status;

        Failure(CompletionStatus status) {
            this.status = status;
        }

        /** Usual, but soon at an end where the failure is one of patience. */
        VerbsSide.Patience patience() {
            return new VerbsSide.Patience(14, this == NO_PEER ? 3 : 7, this == NO_RECEIVE ? 1 : 7, 1);
        }

        /** Whether the peer stops because of it. */
        boolean isNoticedByPeer() {
            return this == KEY || this == LENGTH;
        }
    }

    /** Creates the test. */
    public FlushAfterError() {}

    @Override
    public int number() {
        return 17;
    }

    @Override
    public String title() {
        return "flush after an error";
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
                MemoryRegion ofActive = active.domain().register(arena.allocate(LONG_BYTES, 8), VerbsSide.ALL);
                MemoryRegion ofPassive = passive.domain().register(arena.allocate(LONG_BYTES, 8), VerbsSide.ALL)) {
            for (int i = 0; i < rounds; i++) {
                Failure failure = Failure.values()[i % Failure.values().length];
                String wrong = new Round(active, ofActive, passive, ofPassive, failure, random).run();
                if (wrong != null) {
                    return Outcome.failed("round %d of -Drdma4j.seed=%d, %s: %s".formatted(i, seed, failure, wrong));
                }
            }
        }
        return Outcome.of(true, "%d of %d, five kinds of errors".formatted(rounds, rounds));
    }

    /** One connection, until its last completion. */
    private static final class Round {
        private final End active;
        private final End passive;
        private final MemoryRegion remote;
        private final Failure failure;
        private final Random random;
        private final int failing;

        Round(
                VerbsSide active,
                MemoryRegion ofActive,
                VerbsSide passive,
                MemoryRegion ofPassive,
                Failure failure,
                Random random) {
            this.active = new End("active", active, ofActive);
            this.passive = new End("passive", passive, ofPassive);
            this.remote = ofPassive;
            this.failure = failure;
            this.random = random;
            failing = random.nextInt(OUTSTANDING);
            VerbsSide.connect(active, this.active.queuePair, passive, this.passive.queuePair, failure.patience());
        }

        @Nullable
        String run() {
            SendWorkRequest[] requests = new SendWorkRequest[OUTSTANDING];
            int sends = 0;
            for (int i = 0; i < OUTSTANDING; i++) {
                requests[i] = new SendWorkRequest();
                sends += make(requests[i], i) && i < failing ? 1 : 0;
            }
            boolean peerSends = failure != Failure.NO_RECEIVE && random.nextBoolean();
            boolean receivesLeft = failure.isNoticedByPeer();
            passive.postReceives(receivesLeft ? OUTSTANDING : sends);
            passive.receivesSucceed = sends;
            passive.firstReceiveError = failure == Failure.LENGTH
                    ? CompletionStatus.LOCAL_LENGTH_ERROR
                    : CompletionStatus.WORK_REQUEST_FLUSHED_ERROR;
            if (peerSends) {
                passive.postAnswers();
            } else {
                active.postReceives(OUTSTANDING);
            }
            active.post(requests);
            active.expectSends(requests, failing, failure.status);
            bringAbout();
            String wrong = active.finish();
            if (wrong == null && failure != Failure.NO_PEER) {
                if (!failure.isNoticedByPeer()) {
                    passive.queuePair.modify(new QueuePairAttributes().state(QueuePairState.ERROR));
                }
                wrong = passive.finish();
            }
            active.queuePair.close();
            passive.queuePair.close();
            passive.forget();
            return wrong;
        }

        /** Whether it takes a receive. */
        private boolean make(SendWorkRequest request, int index) {
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

        /** What the work requests do not do by themselves: both wait until the one before has succeeded. */
        private void bringAbout() {
            if (failure == Failure.NO_PEER) {
                active.awaitSend(failing);
                passive.queuePair.modify(new QueuePairAttributes().state(QueuePairState.RESET));
            } else if (failure == Failure.APPLICATION) {
                active.awaitSend(failing);
                active.queuePair.modify(new QueuePairAttributes().state(QueuePairState.ERROR));
            }
        }
    }

    /** What must be completed. */
    private record Due(long id, CompletionStatus status) {}

    /** One end, with what it expects to be told. */
    private static final class End {
        private final String name;
        private final VerbsSide side;
        private final MemoryRegion region;
        private final QueuePair queuePair;
        private final WorkCompletion[] batch = WorkCompletion.array(64);
        private final Deque<Due> sendsDue = new ArrayDeque<>();
        private int receivesPosted;
        private int receivesDone;
        private int receivesSucceed;
        private CompletionStatus firstReceiveError = CompletionStatus.WORK_REQUEST_FLUSHED_ERROR;
        private @Nullable String wrong;

        End(String name, VerbsSide side, MemoryRegion region) {
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

        /** Sends that wait for receives which do not come. */
        void postAnswers() {
            SendWorkRequest[] sends = new SendWorkRequest[ANSWERS];
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
                    sendsDue.add(new Due(requests[i].id(), CompletionStatus.SUCCESS));
                } else if (i == failing) {
                    sendsDue.add(new Due(requests[i].id(), failure));
                } else if (i > failing) {
                    sendsDue.add(new Due(requests[i].id(), CompletionStatus.WORK_REQUEST_FLUSHED_ERROR));
                }
            }
        }

        /** Waits until the next that is due is the one with this number. */
        void awaitSend(long id) {
            long deadline = System.nanoTime() + PATIENCE.toNanos();
            while (wrong == null && sendsDue.element().id() < id && System.nanoTime() < deadline) {
                poll();
            }
        }

        /** Takes all that is due, and a little longer; says what was wrong. */
        @Nullable
        String finish() {
            long deadline = System.nanoTime() + PATIENCE.toNanos();
            while (wrong == null && isSomethingDue()) {
                poll();
                if (System.nanoTime() > deadline) {
                    return "%s: %d sends and %d of %d receives not completed"
                            .formatted(name, sendsDue.size(), receivesPosted - receivesDone, receivesPosted);
                }
            }
            if (wrong == null) {
                postInError();
            }
            long quietUntil = System.nanoTime() + QUIET_NANOS;
            while (wrong == null && (isSomethingDue() || System.nanoTime() < quietUntil)) {
                poll();
                if (System.nanoTime() > deadline) {
                    return name + ": what was posted in the error state is not flushed";
                }
            }
            return wrong;
        }

        private boolean isSomethingDue() {
            return !sendsDue.isEmpty() || receivesDone < receivesPosted;
        }

        /** Leaves nothing in the completion queue for those who use it next. */
        void forget() {
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
            sendsDue.add(new Due(OUTSTANDING, CompletionStatus.WORK_REQUEST_FLUSHED_ERROR));
            postReceives(1);
        }

        private void poll() {
            int count = side.completions().poll(batch);
            for (int i = 0; i < count && wrong == null; i++) {
                if (batch[i].id() >= RECEIVE) {
                    takeReceive(batch[i]);
                } else {
                    Due due = sendsDue.poll();
                    require(
                            due != null && batch[i].id() == due.id() && batch[i].status() == due.status(),
                            batch[i],
                            due);
                }
            }
        }

        private void takeReceive(WorkCompletion completion) {
            CompletionStatus status = receivesDone < receivesSucceed
                    ? CompletionStatus.SUCCESS
                    : receivesDone == receivesSucceed ? firstReceiveError : CompletionStatus.WORK_REQUEST_FLUSHED_ERROR;
            Due due = new Due(RECEIVE + receivesDone++, status);
            require(completion.id() == due.id() && completion.status() == status, completion, due);
        }

        private void require(boolean isRight, WorkCompletion completion, @Nullable Due due) {
            if (!isRight) {
                wrong = "%s: %s, due was %s".formatted(name, completion, due);
            }
        }
    }
}

package io.rdma4j.faults.cases;

import io.rdma4j.faults.AcceptanceTest;
import io.rdma4j.faults.Outcome;
import io.rdma4j.faults.Scale;
import io.rdma4j.faults.TestStage;
import io.rdma4j.faults.traffic.VerbsSide;
import io.rdma4j.verbs.AsyncEvent;
import io.rdma4j.verbs.CompletionQueue;
import io.rdma4j.verbs.CompletionStatus;
import io.rdma4j.verbs.Errno;
import io.rdma4j.verbs.MemoryRegion;
import io.rdma4j.verbs.QueuePair;
import io.rdma4j.verbs.QueuePairCapabilities;
import io.rdma4j.verbs.QueuePairInitAttributes;
import io.rdma4j.verbs.QueuePairState;
import io.rdma4j.verbs.RdmaException;
import io.rdma4j.verbs.ReceiveWorkRequest;
import io.rdma4j.verbs.SendWorkRequest;
import io.rdma4j.verbs.SharedReceiveQueue;
import io.rdma4j.verbs.SharedReceiveQueueInitAttributes;
import io.rdma4j.verbs.WorkCompletion;
import java.lang.foreign.Arena;
import java.net.InetAddress;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import org.jspecify.annotations.Nullable;

/**
 * 18: a completion queue that nobody polls overruns: one event tells, its queue pairs fail, what it holds is right, and a
 * queue pair that reports elsewhere goes on. A shared receive queue that runs low tells so once for each time that it is
 * asked; one that is empty makes senders wait, and fails nobody.
 */
public final class OverrunAndStarvation implements AcceptanceTest {
    private static final int ENTRIES = 16;
    private static final int MESSAGES = 64;
    private static final int RECEIVES = 10;
    private static final int LIMIT = 7;
    private static final int BYTES = 8;
    private static final Duration PATIENCE = Duration.ofSeconds(10);
    private static final Duration MOMENT = Duration.ofMillis(2);

    /** Creates the test. */
    public OverrunAndStarvation() {}

    @Override
    public int number() {
        return 18;
    }

    @Override
    public String title() {
        return "overrun and starvation";
    }

    @Override
    public String required(Scale scale) {
        return "%d of %d: CQ_ERR once, its queue pairs ERROR, others fine; one SRQ_LIMIT per arming; empty SRQ: wait, no error"
                .formatted(rounds(scale), rounds(scale));
    }

    private static int rounds(Scale scale) {
        return scale.of(100, 1000);
    }

    @Override
    public Outcome run(TestStage stage) {
        Random random = new Random(Long.getLong("rdma4j.seed", System.nanoTime()));
        int rounds = rounds(stage.scale());
        InetAddress address = InetAddress.getLoopbackAddress();
        try (VerbsSide sender = new VerbsSide(address, 4 * MESSAGES, 0);
                VerbsSide receiver = new VerbsSide(address, 4 * MESSAGES, 1);
                Arena arena = Arena.ofShared();
                MemoryRegion from = sender.domain().register(arena.allocate(BYTES, 8), VerbsSide.ALL);
                MemoryRegion to = receiver.domain().register(arena.allocate(BYTES, 8), VerbsSide.ALL)) {
            Round round = new Round(sender, from, receiver, to);
            for (int i = 0; i < rounds; i++) {
                String wrong = round.overrun(ENTRIES + random.nextInt(MESSAGES - ENTRIES));
                wrong = wrong == null ? round.starve() : wrong;
                if (wrong != null) {
                    return Outcome.failed("round " + i + ": " + wrong);
                }
            }
        }
        return Outcome.of(true, rounds + " of " + rounds);
    }

    /** What all rounds use. */
    private record Round(VerbsSide sender, MemoryRegion from, VerbsSide receiver, MemoryRegion to) {
        /** Messages to one of two queue pairs of a completion queue that is not polled. */
        @Nullable
        String overrun(int messages) {
            QueuePairCapabilities sizes = new QueuePairCapabilities(1, MESSAGES, 1, 1, 0);
            try (CompletionQueue small = receiver.context().createCompletionQueue(ENTRIES, null, null, 0);
                    QueuePair overrunning =
                            receiver.domain().createQueuePair(QueuePairInitAttributes.reliable(small, sizes));
                    QueuePair neighbour =
                            receiver.domain().createQueuePair(QueuePairInitAttributes.reliable(small, sizes));
                    QueuePair other = receiver.queuePair(1, MESSAGES);
                    QueuePair toOverrunning = sender.queuePair(MESSAGES, 1);
                    QueuePair toNeighbour = sender.queuePair(MESSAGES, 1);
                    QueuePair toOther = sender.queuePair(MESSAGES, 1)) {
                VerbsSide.connect(sender, toOverrunning, receiver, overrunning);
                VerbsSide.connect(sender, toNeighbour, receiver, neighbour);
                VerbsSide.connect(sender, toOther, receiver, other);
                int most = small.capacity();
                int sent = Math.max(messages, most + 1);
                receives(overrunning, sent);
                receives(other, sent);
                SendWorkRequest[] requests = sends(sent);
                toOverrunning.postSends(requests, sent);
                String wrong = events(small);
                wrong = wrong == null ? failed(overrunning, neighbour) : wrong;
                wrong = wrong == null ? refused(sent, most) : wrong;
                wrong = wrong == null ? held(small, most) : wrong;
                toOther.postSends(requests, sent);
                return wrong == null ? delivered(sent) : wrong;
            }
        }

        private @Nullable String events(CompletionQueue small) {
            AsyncEvent event = receiver.context().awaitAsyncEvent(PATIENCE);
            if (event == null
                    || event.type() != AsyncEvent.Type.COMPLETION_QUEUE_ERROR
                    || !event.source().equals(small)) {
                return "overrun: the event is " + event;
            }
            AsyncEvent more = receiver.context().awaitAsyncEvent(MOMENT);
            return more == null ? null : "overrun: a second event, " + more;
        }

        private static @Nullable String failed(QueuePair... queuePairs) {
            for (QueuePair queuePair : queuePairs) {
                if (queuePair.state() != QueuePairState.ERROR) {
                    return "overrun: " + queuePair + " is in " + queuePair.state();
                }
            }
            return null;
        }

        /** What the sender is told: no message beyond the last whose completion was kept has succeeded. */
        private @Nullable String refused(int sent, int most) {
            for (int i = 0; i < sent; i++) {
                WorkCompletion completion = sender.await(PATIENCE);
                boolean isRight = i < most
                        ? completion.isSuccess()
                        : i == most
                                ? completion.status() == CompletionStatus.REMOTE_OPERATION_ERROR
                                : completion.status() == CompletionStatus.WORK_REQUEST_FLUSHED_ERROR;
                if (completion.id() != i || !isRight) {
                    return "overrun at " + most + ", the sender: " + completion;
                }
            }
            return null;
        }

        /** What was in the queue before is there, once and in order; then it is refused. */
        private static @Nullable String held(CompletionQueue small, int most) {
            WorkCompletion[] one = WorkCompletion.array(1);
            for (int i = 0; i < most; i++) {
                if (small.poll(one) != 1 || one[0].id() != i || !one[0].isSuccess()) {
                    return "overrun: completion " + i + " in the queue is " + one[0];
                }
            }
            try {
                return small.poll(one) + " completions after an overrun: " + one[0];
            } catch (RdmaException e) {
                return e.errno() == Errno.EIO ? null : "overrun: polling fails with " + e.errno();
            }
        }

        private void receives(QueuePair queuePair, int count) {
            for (int i = 0; i < count; i++) {
                queuePair.postReceive(receive(i));
            }
        }

        private ReceiveWorkRequest receive(int id) {
            return new ReceiveWorkRequest().reset(id).into(to, 0, BYTES);
        }

        private SendWorkRequest[] sends(int count) {
            SendWorkRequest[] requests = new SendWorkRequest[count];
            for (int i = 0; i < count; i++) {
                requests[i] =
                        new SendWorkRequest().reset(i).from(from, 0, BYTES).signaled();
            }
            return requests;
        }

        /** Messages that arrive, in order, and are known to have arrived. */
        private @Nullable String delivered(int count) {
            for (int i = 0; i < count; i++) {
                WorkCompletion received = receiver.await(PATIENCE);
                WorkCompletion sent = sender.await(PATIENCE);
                if (!received.isSuccess() || received.id() != i || !sent.isSuccess()) {
                    return "message " + i + ": " + sent + ", " + received;
                }
            }
            return null;
        }

        /** Two queue pairs take receives from one queue. */
        @Nullable
        String starve() {
            QueuePairCapabilities sizes = new QueuePairCapabilities(1, 1, 1, 1, 0);
            try (SharedReceiveQueue shared = receiver.domain()
                            .createSharedReceiveQueue(SharedReceiveQueueInitAttributes.of(RECEIVES, 1));
                    QueuePair first = receiver.domain().createQueuePair(taking(shared, sizes));
                    QueuePair second = receiver.domain().createQueuePair(taking(shared, sizes));
                    QueuePair toFirst = sender.queuePair(MESSAGES, 1);
                    QueuePair toSecond = sender.queuePair(MESSAGES, 1)) {
                VerbsSide.connect(sender, toFirst, receiver, first);
                VerbsSide.connect(sender, toSecond, receiver, second);
                for (int i = 0; i < RECEIVES; i++) {
                    shared.postReceive(receive(i));
                }
                return new Starving(this, shared, List.of(toFirst, toSecond)).run();
            }
        }

        private QueuePairInitAttributes taking(SharedReceiveQueue shared, QueuePairCapabilities sizes) {
            return QueuePairInitAttributes.reliable(receiver.completions(), sizes)
                    .sharedReceiveQueue(shared);
        }
    }

    /** One shared receive queue, from full to empty and on. */
    private record Starving(Round round, SharedReceiveQueue shared, List<QueuePair> senders) {
        @Nullable
        String run() {
            List<String> wrong = new ArrayList<>();
            shared.setLimit(LIMIT);
            take(wrong, 0, RECEIVES - LIMIT);
            require(wrong, event() == null, "an event while " + LIMIT + " receives are left");
            take(wrong, RECEIVES - LIMIT, 1);
            require(wrong, isLimit(event()), "no event with less than the limit left");
            require(
                    wrong,
                    shared.query().limit() == 0,
                    "the limit is still " + shared.query().limit());
            take(wrong, 4, 2);
            require(wrong, event() == null, "a second event for one limit");
            shared.setLimit(3);
            take(wrong, 6, 2);
            require(wrong, isLimit(event()), "no event for the second limit");
            take(wrong, 8, 2);
            require(wrong, event() == null, "an event without a limit");
            starve(wrong);
            return wrong.isEmpty() ? null : wrong.getFirst();
        }

        /** Messages find nothing; then receives come one by one. */
        private void starve(List<String> wrong) {
            for (int i = 0; i < senders.size(); i++) {
                send(10 + i);
            }
            WorkCompletion[] one = WorkCompletion.array(1);
            long until = System.nanoTime() + MOMENT.toNanos();
            while (System.nanoTime() < until) {
                require(wrong, round.receiver().completions().poll(one) == 0, "empty: " + one[0]);
                require(wrong, round.sender().completions().poll(one) == 0, "empty: " + one[0]);
            }
            for (int i = 0; i < senders.size(); i++) {
                shared.postReceive(round.receive(10 + i));
                WorkCompletion received = round.receiver().await(PATIENCE);
                require(wrong, received.isSuccess() && received.id() == 10 + i, "at last: " + received);
                WorkCompletion sent = round.sender().await(PATIENCE);
                require(wrong, sent.isSuccess(), "at last: " + sent);
            }
        }

        private void take(List<String> wrong, int from, int count) {
            for (int i = from; i < from + count && wrong.isEmpty(); i++) {
                send(i);
                WorkCompletion received = round.receiver().await(PATIENCE);
                WorkCompletion sent = round.sender().await(PATIENCE);
                require(
                        wrong,
                        received.isSuccess() && received.id() == i && sent.isSuccess(),
                        "message " + i + ": " + sent + ", " + received);
            }
        }

        private void send(int id) {
            senders.get(id % senders.size())
                    .postSend(new SendWorkRequest()
                            .reset(id)
                            .from(round.from(), 0, BYTES)
                            .signaled());
        }

        private @Nullable AsyncEvent event() {
            return round.receiver().context().awaitAsyncEvent(MOMENT);
        }

        private boolean isLimit(@Nullable AsyncEvent event) {
            return event != null
                    && event.type() == AsyncEvent.Type.SHARED_RECEIVE_QUEUE_LIMIT_REACHED
                    && event.source().equals(shared);
        }

        private static void require(List<String> wrong, boolean isRight, String what) {
            if (!isRight) {
                wrong.add("shared receive queue: " + what);
            }
        }
    }
}

package io.rdma4j.acceptance.cases;

import io.rdma4j.acceptance.AcceptanceTest;
import io.rdma4j.acceptance.Outcome;
import io.rdma4j.acceptance.Scale;
import io.rdma4j.acceptance.TestStage;
import io.rdma4j.acceptance.traffic.VerbsSide;
import io.rdma4j.value.CompletionStatus;
import io.rdma4j.value.QueuePairState;
import io.rdma4j.verbs.AsyncEvent;
import io.rdma4j.verbs.CompletionQueue;
import io.rdma4j.verbs.Errno;
import io.rdma4j.verbs.MemoryRegion;
import io.rdma4j.verbs.QueuePair;
import io.rdma4j.verbs.QueuePairCapabilities;
import io.rdma4j.verbs.QueuePairInitAttributes;
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
 * Overrun of a completion queue that is not polled, and starvation of a shared receive queue. An overrun is reported by
 * one event, and fails the queue pairs of the completion queue. Its entries remain correct, and a queue pair with
 * another completion queue continues. A shared receive queue that falls below its limit reports that once per arming.
 * An empty shared receive queue makes senders wait, but no queue pair fails.
 */
public final class OverrunAndStarvation implements AcceptanceTest.Body {
    private static final int ENTRIES = 16;
    private static final int MESSAGES = 64;
    private static final int RECEIVES = 10;
    private static final int LIMIT = 7;
    private static final int BYTES = 8;
    private static final Duration WAIT_LIMIT = Duration.ofSeconds(10);
    private static final Duration SHORT_WAIT = Duration.ofMillis(2);

    @Override
    public String required(Scale scale) {
        return "%d of %d: CQ_ERR once, its queue pairs ERROR, others unaffected; one SRQ_LIMIT per arming; empty SRQ: wait, no error"
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

    /** The objects that all rounds use. */
    private record Round(VerbsSide sender, MemoryRegion from, VerbsSide receiver, MemoryRegion to) {
        /** Sends messages to one of two queue pairs whose completion queue is not polled. */
        @Nullable
        String overrun(int messages) {
            QueuePairCapabilities sizes = new QueuePairCapabilities(1, MESSAGES, 1, 1, 0);
            try (CompletionQueue small = receiver.context().createCompletionQueue(ENTRIES, null, null, 0);
                    QueuePair overrunning =
                            receiver.domain().createQueuePair(QueuePairInitAttributes.reliable(small, sizes));
                    QueuePair sharing =
                            receiver.domain().createQueuePair(QueuePairInitAttributes.reliable(small, sizes));
                    QueuePair other = receiver.queuePair(1, MESSAGES);
                    QueuePair toOverrunning = sender.queuePair(MESSAGES, 1);
                    QueuePair toSharing = sender.queuePair(MESSAGES, 1);
                    QueuePair toOther = sender.queuePair(MESSAGES, 1)) {
                VerbsSide.connect(sender, toOverrunning, receiver, overrunning);
                VerbsSide.connect(sender, toSharing, receiver, sharing);
                VerbsSide.connect(sender, toOther, receiver, other);
                int capacity = small.capacity();
                int sent = Math.max(messages, capacity + 1);
                receives(overrunning, sent);
                receives(other, sent);
                SendWorkRequest[] requests = sends(sent);
                toOverrunning.postSends(requests, sent);
                String wrong = checkEvents(small);
                wrong = wrong == null ? checkFailed(overrunning, sharing) : wrong;
                wrong = wrong == null ? checkSender(sent, capacity) : wrong;
                wrong = wrong == null ? checkEntries(small, capacity) : wrong;
                toOther.postSends(requests, sent);
                return wrong == null ? checkDelivered(sent) : wrong;
            }
        }

        private @Nullable String checkEvents(CompletionQueue small) {
            AsyncEvent event = receiver.context().awaitAsyncEvent(WAIT_LIMIT);
            if (event == null
                    || event.type() != AsyncEvent.Type.COMPLETION_QUEUE_ERROR
                    || !event.source().equals(small)) {
                return "overrun: the event is " + event;
            }
            AsyncEvent second = receiver.context().awaitAsyncEvent(SHORT_WAIT);
            return second == null ? null : "overrun: a second event, " + second;
        }

        private static @Nullable String checkFailed(QueuePair... queuePairs) {
            for (QueuePair queuePair : queuePairs) {
                if (queuePair.state() != QueuePairState.ERROR) {
                    return "overrun: " + queuePair + " is in " + queuePair.state();
                }
            }
            return null;
        }

        /** Checks the sender: no message after the last one whose completion was stored has succeeded. */
        private @Nullable String checkSender(int sent, int capacity) {
            for (int i = 0; i < sent; i++) {
                WorkCompletion completion = sender.await(WAIT_LIMIT);
                boolean isRight = i < capacity
                        ? completion.isSuccess()
                        : i == capacity
                                ? completion.status() == CompletionStatus.REMOTE_OPERATION_ERROR
                                : completion.status() == CompletionStatus.WORK_REQUEST_FLUSHED_ERROR;
                if (completion.id() != i || !isRight) {
                    return "overrun at " + capacity + ", the sender: " + completion;
                }
            }
            return null;
        }

        /** Checks that earlier completions are reported once and in order, and that polling then fails. */
        private static @Nullable String checkEntries(CompletionQueue small, int capacity) {
            WorkCompletion[] one = WorkCompletion.array(1);
            for (int i = 0; i < capacity; i++) {
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

        /** Checks that messages are received in order and acknowledged. */
        private @Nullable String checkDelivered(int count) {
            for (int i = 0; i < count; i++) {
                WorkCompletion received = receiver.await(WAIT_LIMIT);
                WorkCompletion sent = sender.await(WAIT_LIMIT);
                if (!received.isSuccess() || received.id() != i || !sent.isSuccess()) {
                    return "message " + i + ": " + sent + ", " + received;
                }
            }
            return null;
        }

        /** Lets two queue pairs consume receives of one shared queue. */
        @Nullable
        String starve() {
            QueuePairCapabilities sizes = new QueuePairCapabilities(1, 1, 1, 1, 0);
            try (SharedReceiveQueue shared = receiver.domain()
                            .createSharedReceiveQueue(SharedReceiveQueueInitAttributes.of(RECEIVES, 1));
                    QueuePair first = receiver.domain().createQueuePair(sharedReceiveAttributes(shared, sizes));
                    QueuePair second = receiver.domain().createQueuePair(sharedReceiveAttributes(shared, sizes));
                    QueuePair toFirst = sender.queuePair(MESSAGES, 1);
                    QueuePair toSecond = sender.queuePair(MESSAGES, 1)) {
                VerbsSide.connect(sender, toFirst, receiver, first);
                VerbsSide.connect(sender, toSecond, receiver, second);
                for (int i = 0; i < RECEIVES; i++) {
                    shared.postReceive(receive(i));
                }
                return new Starvation(this, shared, List.of(toFirst, toSecond)).run();
            }
        }

        private QueuePairInitAttributes sharedReceiveAttributes(
                SharedReceiveQueue shared, QueuePairCapabilities sizes) {
            return QueuePairInitAttributes.reliable(receiver.completions(), sizes)
                    .withSharedReceiveQueue(shared);
        }
    }

    /** One shared receive queue, which becomes empty and is refilled. */
    private record Starvation(Round round, SharedReceiveQueue shared, List<QueuePair> senders) {
        @Nullable
        String run() {
            List<String> wrong = new ArrayList<>();
            shared.setLimit(LIMIT);
            sendAndReceive(wrong, 0, RECEIVES - LIMIT);
            require(wrong, event() == null, "an event while " + LIMIT + " receives are left");
            sendAndReceive(wrong, RECEIVES - LIMIT, 1);
            require(wrong, isLimit(event()), "no event with less than the limit left");
            require(
                    wrong,
                    shared.query().limit() == 0,
                    "the limit is still " + shared.query().limit());
            sendAndReceive(wrong, 4, 2);
            require(wrong, event() == null, "a second event for one limit");
            shared.setLimit(3);
            sendAndReceive(wrong, 6, 2);
            require(wrong, isLimit(event()), "no event for the second limit");
            sendAndReceive(wrong, 8, 2);
            require(wrong, event() == null, "an event without a limit");
            starve(wrong);
            return wrong.isEmpty() ? null : wrong.getFirst();
        }

        /** Sends messages while there are no receives, then posts receives one by one. */
        private void starve(List<String> wrong) {
            for (int i = 0; i < senders.size(); i++) {
                send(10 + i);
            }
            WorkCompletion[] one = WorkCompletion.array(1);
            long until = System.nanoTime() + SHORT_WAIT.toNanos();
            while (System.nanoTime() < until) {
                require(wrong, round.receiver().completions().poll(one) == 0, "empty: " + one[0]);
                require(wrong, round.sender().completions().poll(one) == 0, "empty: " + one[0]);
            }
            for (int i = 0; i < senders.size(); i++) {
                shared.postReceive(round.receive(10 + i));
                WorkCompletion received = round.receiver().await(WAIT_LIMIT);
                require(wrong, received.isSuccess() && received.id() == 10 + i, "after a wait: " + received);
                WorkCompletion sent = round.sender().await(WAIT_LIMIT);
                require(wrong, sent.isSuccess(), "after a wait: " + sent);
            }
        }

        private void sendAndReceive(List<String> wrong, int from, int count) {
            for (int i = from; i < from + count && wrong.isEmpty(); i++) {
                send(i);
                WorkCompletion received = round.receiver().await(WAIT_LIMIT);
                WorkCompletion sent = round.sender().await(WAIT_LIMIT);
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
            return round.receiver().context().awaitAsyncEvent(SHORT_WAIT);
        }

        private boolean isLimit(@Nullable AsyncEvent event) {
            return event != null
                    && event.type() == AsyncEvent.Type.SHARED_RECEIVE_QUEUE_LIMIT_REACHED
                    && event.source().equals(shared);
        }

        private static void require(List<String> wrong, boolean isRight, String message) {
            if (!isRight) {
                wrong.add("shared receive queue: " + message);
            }
        }
    }
}

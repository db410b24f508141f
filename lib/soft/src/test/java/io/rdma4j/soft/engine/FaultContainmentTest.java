package io.rdma4j.soft.engine;

import static org.assertj.core.api.Assertions.assertThat;

import io.rdma4j.fixture.TestEndpoint;
import io.rdma4j.link.ForwardingLink;
import io.rdma4j.link.Link;
import io.rdma4j.link.SendBurst;
import io.rdma4j.sharing.Port;
import io.rdma4j.soft.SoftStack;
import io.rdma4j.soft.device.StackAccess;
import io.rdma4j.transport.CompletionSink;
import io.rdma4j.transport.QueuePairMachine;
import io.rdma4j.transport.RcQueuePair;
import io.rdma4j.value.CompletionStatus;
import io.rdma4j.value.QueuePairState;
import io.rdma4j.verbs.AsyncEvent;
import io.rdma4j.verbs.Device;
import io.rdma4j.verbs.ReceiveWorkRequest;
import io.rdma4j.verbs.SendWorkRequest;
import io.rdma4j.verbs.WorkCompletion;
import java.net.InetAddress;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.CountDownLatch;
import java.util.function.Supplier;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * An exception or Error in the engine's code fails the object that it belongs to. All others continue, and no thread or
 * lock is lost.
 */
@Timeout(30)
class FaultContainmentTest {
    private static final InetAddress ADDRESS = InetAddress.getLoopbackAddress();
    private static final QueuePairMachine.Configuration CONFIGURATION =
            new QueuePairMachine.Configuration(16, 16, 1, 1, 0, true, 1);

    static Stream<Throwable> faults() {
        return Stream.of(
                new OutOfMemoryError("on purpose"),
                new StackOverflowError("on purpose"),
                new InternalError("on purpose"),
                new NoClassDefFoundError("on purpose"),
                new AssertionError("on purpose"),
                new IllegalStateException("on purpose"));
    }

    private static void fail(Throwable fault) {
        switch (fault) {
            case Error error -> throw error;
            case RuntimeException exception -> throw exception;
            default -> throw new AssertionError(fault);
        }
    }

    /** Two connected endpoints of a stack. */
    private static final class Pair implements AutoCloseable {
        private final TestEndpoint a;
        private final TestEndpoint b;

        Pair(SoftStack stack) {
            Device device = stack.deviceOf(ADDRESS).orElseThrow();
            a = new TestEndpoint(device.open(), ADDRESS);
            b = new TestEndpoint(device.open(), ADDRESS);
            TestEndpoint.connect(a, b);
        }

        CompletionStatus send() {
            b.queuePair.postReceive(new ReceiveWorkRequest().reset(2).into(b.region, 0, 8));
            a.queuePair.postSend(SendWorkRequest.send(1, a.region, 0, 8).signaled());
            CompletionStatus status = a.completion().status();
            int _ = b.completions.poll(WorkCompletion.array(1));
            return status;
        }

        @Override
        public void close() {
            a.close();
            b.close();
        }
    }

    /** A port with an input that fails. */
    private static class FailingPort extends Port {
        private volatile @Nullable Throwable fault;

        FailingPort() {
            this(InetAddress.ofLiteral("192.0.2.1"));
        }

        FailingPort(InetAddress address) {
            super(address);
        }

        @Override
        public int receive(long nowNanos, boolean all) {
            Throwable next = fault;
            if (next != null) {
                fault = null;
                fail(next);
            }
            return 0;
        }

        @Override
        public int receiveStray(long nowNanos) {
            return 0;
        }

        @Override
        public long nextDeadlineNanos() {
            return Long.MAX_VALUE;
        }

        @Override
        public Link link() {
            throw new AssertionError("nothing is sent");
        }
    }

    private static void locked(Engine engine, Runnable action) {
        engine.lock();
        try {
            action.run();
        } finally {
            engine.unlock();
        }
    }

    private static List<String> engineThreads() {
        return Thread.getAllStackTraces().keySet().stream()
                .filter(thread -> thread.getName().startsWith("rdma4j-engine"))
                .map(thread -> thread.getName() + " " + thread.threadId())
                .sorted()
                .toList();
    }

    private static List<AsyncEvent.Type> events(TestEndpoint endpoint) {
        List<AsyncEvent.Type> events = new ArrayList<>();
        AsyncEvent event = endpoint.context.awaitAsyncEvent(Duration.ZERO);
        while (event != null) {
            events.add(event.type());
            event = endpoint.context.awaitAsyncEvent(Duration.ZERO);
        }
        return events;
    }

    @ParameterizedTest
    @MethodSource("faults")
    void faultOfNoConnectionFailsTheDevicesQueuePairsAndNewOnesWork(Throwable fault) {
        if (fault instanceof OutOfMemoryError || fault instanceof InternalError) {
            return; // the tests below
        }
        try (SoftStack stack = SoftStack.create();
                Pair old = new Pair(stack)) {
            assertThat(old.send()).isEqualTo(CompletionStatus.SUCCESS);
            List<String> threads = engineThreads();
            Engine engine = StackAccess.devices(stack).engine();
            FailingPort port = new FailingPort();
            locked(engine, () -> engine.addPort(port));
            port.fault = fault;
            while (engine.counters().deviceFaults == 0) {
                boolean _ = engine.poll(); // a wait may block without a poll, since the port cannot wake it
            }
            assertThat(old.a.queuePair.state()).isEqualTo(QueuePairState.ERROR);
            assertThat(old.b.queuePair.state()).isEqualTo(QueuePairState.ERROR);
            assertThat(events(old.a))
                    .containsExactlyInAnyOrder(AsyncEvent.Type.QUEUE_PAIR_FATAL, AsyncEvent.Type.DEVICE_FATAL);
            try (Pair another = new Pair(stack)) {
                assertThat(another.send()).isEqualTo(CompletionStatus.SUCCESS);
            }
            assertThat(engineThreads()).isEqualTo(threads);
        }
    }

    @Test
    void inputWithoutMemoryIsLostAndConnectionsContinue() {
        try (SoftStack stack = SoftStack.create();
                Pair pair = new Pair(stack)) {
            Engine engine = StackAccess.devices(stack).engine();
            FailingPort port = new FailingPort();
            locked(engine, () -> engine.addPort(port));
            for (int round = 1; round <= 20; round++) {
                port.fault = new OutOfMemoryError("on purpose");
                assertThat(pair.send()).isEqualTo(CompletionStatus.SUCCESS);
                while (engine.counters().inputFaults < round) {
                    boolean _ = engine.poll();
                }
            }
            assertThat(events(pair.a)).doesNotContain(AsyncEvent.Type.DEVICE_FATAL, AsyncEvent.Type.QUEUE_PAIR_FATAL);
        }
    }

    /** A port with the link of another one, which has no memory for each third burst. */
    private static Port withoutMemoryNowAndThen(Port port, int[] failures) {
        Link link = new ForwardingLink(port.link()) {
            private int sent;

            @Override
            public void send(SendBurst burst) {
                if (++sent % 3 == 0) {
                    failures[0]++;
                    throw new OutOfMemoryError("on purpose");
                }
                inner.send(burst);
            }
        };
        return new FailingPort(port.address()) {
            @Override
            public Link link() {
                return link;
            }
        };
    }

    @Test
    void outputWithoutMemoryIsLostAndRetransmitted() {
        try (SoftStack stack = SoftStack.create();
                Pair pair = new Pair(stack)) {
            Engine engine = StackAccess.devices(stack).engine();
            int[] failures = new int[1];
            locked(engine, () -> {
                DrivenQueuePair driven = Objects.requireNonNull(engine.findQueuePair(pair.a.queuePair.number()));
                driven.port = withoutMemoryNowAndThen(Objects.requireNonNull(driven.port()), failures);
            });
            for (int round = 1; round <= 20; round++) {
                assertThat(pair.send()).isEqualTo(CompletionStatus.SUCCESS);
            }
            assertThat(failures[0]).isPositive();
            assertThat(engine.counters().outputFaults).isEqualTo(failures[0]);
            assertThat(events(pair.a)).doesNotContain(AsyncEvent.Type.DEVICE_FATAL, AsyncEvent.Type.QUEUE_PAIR_FATAL);
        }
    }

    /** The machine of a queue pair whose completions are refused a few times. */
    private static final class Culprit {
        private final Supplier<Throwable> fault;
        private int refusals = 3;
        private int flushed;
        private @Nullable Throwable reported;
        private final RcQueuePair machine;

        Culprit(Engine engine, int number, Supplier<Throwable> fault) {
            this.fault = fault;
            CompletionSink sink = completion -> {
                if (refusals > 0) {
                    refusals--;
                    fail(this.fault.get());
                }
                assertThat(completion.status).isEqualTo(CompletionStatus.WORK_REQUEST_FLUSHED_ERROR);
                flushed++;
            };
            machine = new RcQueuePair(
                    RcQueuePair.Role.CONNECTED,
                    number,
                    CONFIGURATION,
                    engine.engines().memory(),
                    sink,
                    sink,
                    event -> {});
        }

        void post(int count) {
            for (int i = 0; i < count; i++) {
                assertThat(machine.receiveQueue().claim()).isNotNull();
                machine.receiveQueue().publish();
            }
        }
    }

    @ParameterizedTest
    @MethodSource("faults")
    void queuePairWhoseFailureFailsAgainIsFlushedAndReportedLater(Throwable fault) {
        try (SoftStack stack = SoftStack.create();
                Pair unrelated = new Pair(stack)) {
            List<String> threads = engineThreads();
            Engine engine = StackAccess.devices(stack).engine();
            engine.lock();
            Culprit culprit = new Culprit(engine, engine.reserveQueuePairNumber(), () -> fault);
            DrivenQueuePair driven = engine.addQueuePair(culprit.machine, cause -> culprit.reported = cause);
            culprit.machine.toInit(0);
            culprit.post(8);
            engine.unlock();
            engine.failAsync(driven);
            while (isPending(engine, culprit)) {
                assertThat(unrelated.send()).isEqualTo(CompletionStatus.SUCCESS);
            }
            assertThat(culprit.reported).isSameAs(fault);
            // The refused completions had already been removed from the queue: three of eight.
            assertThat(culprit.flushed).isEqualTo(5);
            assertThat(engineThreads()).isEqualTo(threads);
            locked(engine, () -> engine.removeQueuePair(driven));
        }
    }

    private static boolean isPending(Engine engine, Culprit culprit) {
        engine.lock();
        try {
            return culprit.reported == null;
        } finally {
            engine.unlock();
        }
    }

    @ParameterizedTest
    @MethodSource("faults")
    void timerThatFailsRunsAgain(Throwable fault) {
        try (SoftStack stack = SoftStack.create()) {
            Engine engine = StackAccess.devices(stack).engine();
            int[] runs = new int[1];
            DeadlineTask task = new DeadlineTask() {
                @Override
                protected void onDeadline(long nowNanos) {
                    if (++runs[0] < 3) {
                        fail(fault);
                    }
                }
            };
            locked(engine, () -> engine.schedule(task, engine.nowNanos()));
            while (engine.nextActivityNanos() != Long.MAX_VALUE) {
                boolean _ = engine.poll();
            }
            assertThat(runs[0]).isEqualTo(3);
            assertThat(engine.counters().deviceFaults).isZero();
        }
    }

    @ParameterizedTest
    @MethodSource("faults")
    void failingListenerOfASignalAffectsNothingElse(Throwable fault) throws InterruptedException {
        try (SoftStack stack = SoftStack.create();
                Pair pair = new Pair(stack)) {
            CountDownLatch called = new CountDownLatch(1);
            pair.a.channel.signal().add(() -> {
                called.countDown();
                fail(fault);
            });
            pair.a.completions.requestNotification(false);
            assertThat(pair.send()).isEqualTo(CompletionStatus.SUCCESS);
            called.await(); // the completion can be polled before the listener is called
            assertThat(pair.send()).isEqualTo(CompletionStatus.SUCCESS);
            assertThat(events(pair.a)).doesNotContain(AsyncEvent.Type.DEVICE_FATAL, AsyncEvent.Type.QUEUE_PAIR_FATAL);
        }
    }
}

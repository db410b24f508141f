package io.rdma4j.conformance.verbs;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import io.rdma4j.conformance.device.DirectConnections;
import io.rdma4j.conformance.device.Driver;
import io.rdma4j.conformance.device.NotOn;
import io.rdma4j.conformance.device.TestDevices;
import io.rdma4j.fixture.BlockedThread;
import io.rdma4j.fixture.TestEndpoint;
import io.rdma4j.verbs.ClosedException;
import io.rdma4j.verbs.CompletionQueue;
import io.rdma4j.verbs.Errno;
import io.rdma4j.verbs.RdmaException;
import io.rdma4j.verbs.ReceiveWorkRequest;
import io.rdma4j.verbs.SendWorkRequest;
import io.rdma4j.verbs.WorkCompletion;
import java.lang.foreign.ValueLayout;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Completion channels wake threads that wait for requested events, and only these. */
@Timeout(60)
class WaitingTest {
    private static final Duration SHORT = Duration.ofMillis(50);
    private static final Duration LONG = Duration.ofSeconds(20);

    private TestEndpoint a;
    private TestEndpoint b;

    @BeforeEach
    void connect() {
        a = new TestEndpoint(TestDevices.freshAddress());
        b = new TestEndpoint(TestDevices.peerOf(a.address));
        DirectConnections.connect(a, b);
    }

    @AfterEach
    void close() {
        a.close();
        b.close();
    }

    private void send(boolean solicited) {
        b.queuePair.postReceive(new ReceiveWorkRequest().reset(1).into(b.region, 0, 64));
        SendWorkRequest request = new SendWorkRequest().reset(2).from(a.region, 0, 64);
        a.queuePair.postSend(solicited ? request.solicited() : request);
    }

    @Test
    void armedQueueReportsTheNextCompletionOnce() {
        b.completions.requestNotification(false);
        send(false);
        assertThat(b.channel.await(LONG)).isSameAs(b.completions);
        b.completions.acknowledgeEvents(1);
        send(false);
        assertThat(b.channel.await(SHORT)).isNull();
    }

    @Test
    void queueThatIsNotArmedReportsNothing() {
        send(true);
        assertThat(b.channel.await(SHORT)).isNull();
        assertThat(b.completion().isSuccess()).isTrue();
    }

    @Test
    void queueArmedForSolicitedReportsOnlySolicitedMessages() {
        b.completions.requestNotification(true);
        send(false);
        assertThat(b.channel.await(SHORT)).isNull();
        send(true);
        assertThat(b.channel.await(LONG)).isSameAs(b.completions);
        b.completions.acknowledgeEvents(1);
    }

    @Test
    @NotOn(value = Driver.RXE, because = "reports no failures at a queue that is armed for solicited messages")
    void queueArmedForSolicitedReportsFailures() {
        a.completions.requestNotification(true);
        a.queuePair.postSend(
                new SendWorkRequest().reset(1).write(1, ~b.region.remoteKey()).from(a.region, 0, 8));
        assertThat(a.channel.await(LONG)).isSameAs(a.completions);
        a.completions.acknowledgeEvents(1);
    }

    @Test
    void armingForAllIsNotWeakenedByArmingForSolicited() {
        b.completions.requestNotification(false);
        b.completions.requestNotification(true);
        send(false);
        assertThat(b.channel.await(LONG)).isSameAs(b.completions);
        b.completions.acknowledgeEvents(1);
    }

    @Test
    void closingTheQueueWaitsUntilItsEventsAreAcknowledged() throws InterruptedException {
        b.completions.requestNotification(false);
        send(false);
        CompletionQueue reported = b.channel.await(LONG);
        assertThat(reported).isSameAs(b.completions);
        b.queuePair.close();
        CountDownLatch closed = new CountDownLatch(1);
        Thread closer = Thread.ofPlatform().start(() -> {
            b.completions.close();
            closed.countDown();
        });
        assertThat(closed.await(50, TimeUnit.MILLISECONDS)).isFalse();
        b.completions.acknowledgeEvents(1);
        closer.join();
        assertThat(closed.getCount()).isZero();
    }

    @Test
    void channelInUseCannotBeClosed() {
        assertThatThrownBy(b.channel::close)
                .isInstanceOfSatisfying(
                        RdmaException.class, e -> assertThat(e.errno()).isEqualTo(Errno.EBUSY));
    }

    @Test
    void interruptEndsTheWaitAndItsFlagStaysSet() throws InterruptedException {
        AtomicBoolean flag = new AtomicBoolean();
        AtomicReference<@Nullable RdmaException> result = new AtomicReference<>();
        Thread waiter = Thread.ofPlatform().start(() -> {
            result.set(catchThrowableOfType(RdmaException.class, b.channel::await));
            flag.set(Thread.currentThread().isInterrupted());
        });
        BlockedThread.await(waiter);
        waiter.interrupt();
        waiter.join();
        assertThat(Objects.requireNonNull(result.get()).errno()).isEqualTo(Errno.EINTR);
        assertThat(flag).isTrue();
    }

    @Test
    void closingTheDeviceEndsAllWaits() throws InterruptedException {
        AtomicInteger closed = new AtomicInteger();
        Runnable wait = () -> {
            assertThatThrownBy(b.channel::await).isInstanceOf(ClosedException.class);
            closed.incrementAndGet();
        };
        List<Thread> waiters = new ArrayList<>();
        for (int i = 0; i < 3; i++) {
            waiters.add(Thread.ofPlatform().start(wait));
            waiters.add(Thread.ofVirtual().start(wait));
        }
        BlockedThread.await(waiters.toArray(Thread[]::new));
        b.close();
        for (Thread waiter : waiters) {
            waiter.join(10_000);
            assertThat(waiter.isAlive()).isFalse();
        }
        assertThat(closed).hasValue(waiters.size());
    }

    @Test
    void oneSidedOperationsAreServedWhileNoThreadWaitsOrPolls() throws InterruptedException {
        a.queuePair.postWrite(1, a.region, 0, 8, b.region.remote());
        a.memory.set(ValueLayout.JAVA_LONG, 0, 42);
        a.queuePair.postWrite(2, a.region, 0, 8, b.region.remote());
        long giveUp = System.nanoTime() + 10_000_000_000L;
        while (b.memory.get(ValueLayout.JAVA_LONG, 0) != 42 && System.nanoTime() - giveUp < 0) {
            Thread.sleep(1);
        }
        assertThat(b.memory.get(ValueLayout.JAVA_LONG, 0)).isEqualTo(42);
    }

    /** Both sides only wait for events: a lost wakeup on either side stops the exchange. */
    private void pingPong(int rounds, boolean virtual) throws InterruptedException {
        AtomicReference<@Nullable Throwable> failure = new AtomicReference<>();
        Runnable ofB = () -> {
            try {
                play(b, rounds, false);
            } catch (Throwable e) {
                failure.set(e);
            }
        };
        Runnable ofA = () -> {
            try {
                play(a, rounds, true);
            } catch (Throwable e) {
                failure.set(e);
            }
        };
        Thread left =
                virtual ? Thread.ofVirtual().start(ofA) : Thread.ofPlatform().start(ofA);
        Thread right =
                virtual ? Thread.ofVirtual().start(ofB) : Thread.ofPlatform().start(ofB);
        left.join();
        right.join();
        assertThat(failure.get()).isNull();
    }

    private static void play(TestEndpoint side, int rounds, boolean serves) {
        WorkCompletion[] one = WorkCompletion.array(4);
        ReceiveWorkRequest receive = new ReceiveWorkRequest().reset(1).into(side.region, 0, 64);
        SendWorkRequest send = new SendWorkRequest().reset(2).from(side.region, 64, 64);
        side.completions.requestNotification(false);
        for (int i = 0; i < 8; i++) {
            side.queuePair.postReceive(receive);
        }
        if (serves) {
            side.queuePair.postSend(send);
        }
        int received = 0;
        while (received < rounds) {
            CompletionQueue reported = side.channel.await(LONG);
            if (reported == null) {
                throw new AssertionError("no event after " + received + " messages");
            }
            reported.acknowledgeEvents(1);
            reported.requestNotification(false);
            for (int n = reported.poll(one); n > 0; n = reported.poll(one)) {
                for (int i = 0; i < n; i++) {
                    assertThat(one[i].isSuccess()).isTrue();
                    received++;
                    side.queuePair.postReceive(receive);
                    side.queuePair.postSend(send);
                }
            }
        }
    }

    @Test
    @Timeout(value = 10, unit = TimeUnit.MINUTES) // the exchange itself detects a lost wakeup; rounds may take any time
    void twoPlatformThreadsThatOnlyWaitPlayPingPong() throws InterruptedException {
        pingPong(TestDevices.load(1_000), false);
    }

    @Test
    @Timeout(value = 10, unit = TimeUnit.MINUTES)
    void twoVirtualThreadsThatOnlyWaitPlayPingPong() throws InterruptedException {
        pingPong(TestDevices.load(1_000), true);
    }
}

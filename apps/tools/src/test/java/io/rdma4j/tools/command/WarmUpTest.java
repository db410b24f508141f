package io.rdma4j.tools.command;

import static org.assertj.core.api.Assertions.assertThat;

import io.rdma4j.verbs.Errno;
import io.rdma4j.verbs.RdmaException;
import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.Set;
import java.util.concurrent.BrokenBarrierException;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** Tests the course of a warm-up, with rounds that use no device. */
@Timeout(60)
class WarmUpTest {
    private static final long LONG_MILLIS = 60_000;

    private final ByteArrayOutputStream out = new ByteArrayOutputStream();
    private final ByteArrayOutputStream err = new ByteArrayOutputStream();
    private final ToolEnvironment environment = new ToolEnvironment(
            new PrintStream(out, true, StandardCharsets.UTF_8), new PrintStream(err, true, StandardCharsets.UTF_8));

    private String out() {
        return out.toString(StandardCharsets.UTF_8);
    }

    private String err() {
        return err.toString(StandardCharsets.UTF_8);
    }

    private static List<String> threads() {
        return Thread.getAllStackTraces().keySet().stream()
                .map(Thread::getName)
                .filter(name -> name.startsWith("rdma4j-warm-up"))
                .toList();
    }

    /** Sleeps until the thread is interrupted. */
    private static void sleepForLong() {
        try {
            Thread.sleep(LONG_MILLIS); // until it is interrupted
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    /** A round in which the sides wait for each other, and record their parameters. */
    private static final class Meeting implements WarmUp.Round {
        final Set<InetSocketAddress> addresses = ConcurrentHashMap.newKeySet();
        final Set<RdmaAccess> stacks = ConcurrentHashMap.newKeySet();
        final Queue<Integer> worksOfServer = new ConcurrentLinkedQueue<>();
        final Queue<Integer> worksOfClient = new ConcurrentLinkedQueue<>();
        final CountDownLatch begun = new CountDownLatch(1);
        private final CyclicBarrier bothSides = new CyclicBarrier(2);

        @Override
        public boolean run(ToolEnvironment own, InetSocketAddress server, boolean isServer, int work) {
            own.out().println("a row of the table");
            own.err().println("a message");
            own.report().result("rows", List.of());
            addresses.add(server);
            stacks.add(own.rdma());
            (isServer ? worksOfServer : worksOfClient).add(work);
            try {
                bothSides.await();
                begun.countDown();
                return true;
            } catch (InterruptedException | BrokenBarrierException e) {
                return false;
            }
        }
    }

    @Test
    void bothSidesUseNewStacksInEachRound() {
        environment.warmUp(WarmUpChoice.IF_MEASURING);
        Meeting meeting = new Meeting();
        WarmUp.perform("ib_write_lat", meeting, environment);
        assertThat(meeting.addresses)
                .isNotEmpty()
                .allMatch(address -> address.getAddress().isLoopbackAddress());
        assertThat(meeting.stacks).hasSize(2 * meeting.worksOfServer.size()).doesNotContain(RdmaAccess.OF_PROCESS);
        assertThat(threads()).isEmpty();
    }

    @Test
    void roundsGetMoreWorkUntilTheyAreLongEnough() {
        environment.warmUp(WarmUpChoice.IF_MEASURING);
        Meeting meeting = new Meeting();
        WarmUp.perform("ib_write_lat", meeting, environment);
        List<Integer> works = List.copyOf(meeting.worksOfClient);
        assertThat(List.copyOf(meeting.worksOfServer)).isEqualTo(works);
        assertThat(works).isNotEmpty().first().isEqualTo(16);
        for (int i = 1; i < works.size(); i++) {
            assertThat(works.get(i)).isIn(works.get(i - 1), 2 * works.get(i - 1));
        }
    }

    @Test
    void onlyItsDurationIsPrintedAndReported() {
        environment.warmUp(WarmUpChoice.IF_MEASURING);
        WarmUp.perform("ib_write_lat", new Meeting(), environment);
        assertThat(out()).isEmpty();
        assertThat(err()).matches("ib_write_lat: warmed up for [0-9]+\\.[0-9] s \\(not with --no-warm-up\\)\\R");
        assertThat(environment.report().json("ib_write_lat", List.of(), Map.of(), 0, null))
                .containsPattern("\"results\": \\{\\s*\"warmUpSeconds\": [0-9]+\\.[0-9]\\s*\\}");
    }

    @Test
    void nothingHappensInAnEnvironmentThatExcludesIt() {
        AtomicInteger calls = new AtomicInteger();
        WarmUp.Round round = (_, _, _, _) -> calls.incrementAndGet() > 0;
        WarmUp.perform("ib_write_lat", round, environment);
        WarmUp background = WarmUp.start(round, environment);
        background.close();
        assertThat(background).isSameAs(WarmUp.NONE);
        assertThat(calls).hasValue(0);
        assertThat(out() + err()).isEmpty();
        assertThat(environment.report().json("ib_write_lat", List.of(), Map.of(), 0, null))
                .doesNotContain("warmUpSeconds");
    }

    @Test
    void roundsThatFailEndIt() {
        environment.warmUp(WarmUpChoice.IF_MEASURING);
        WarmUp.perform("ib_write_lat", (_, _, _, _) -> false, environment);
        assertThat(out()).isEmpty();
        assertThat(err()).containsOnlyOnce("warmed up").hasLineCount(1);
        assertThat(threads()).isEmpty();
    }

    /** The tool itself reports the unknown name, without the delay of a warm-up. */
    @Test
    void nothingHappensIfAHostIsUnknown() {
        environment.warmUp(WarmUpChoice.IF_MEASURING);
        AtomicInteger calls = new AtomicInteger();
        WarmUp.Round round = (_, _, _, _) -> calls.incrementAndGet() > 0;
        WarmUp.perform("ib_write_lat", round, environment, null, "no.such.host.invalid");
        assertThat(calls).hasValue(0);
        assertThat(out() + err()).isEmpty();
        WarmUp.perform("ib_write_lat", round, environment, null, "127.0.0.1");
        assertThat(calls).hasPositiveValue();
    }

    static List<Throwable> failures() {
        return List.of(
                new RdmaException("ibv_post_send", Errno.ENOMEM, "the queue is full", ""),
                new IllegalStateException("a defect"),
                new OutOfMemoryError("Java heap space"));
    }

    @ParameterizedTest
    @MethodSource("failures")
    void roundsThatThrowEndIt(Throwable failure) {
        environment.warmUp(WarmUpChoice.IF_MEASURING);
        WarmUp.Round round = (_, _, _, _) -> {
            if (failure instanceof Error error) {
                throw error;
            }
            throw (RuntimeException) failure;
        };
        WarmUp.perform("ib_write_lat", round, environment);
        assertThat(out()).isEmpty();
        assertThat(err()).containsOnlyOnce("warmed up").hasLineCount(1);
        assertThat(threads()).isEmpty();
    }

    @Test
    void aServerWithAFailedClientDoesNotDelayTheEnd() {
        environment.warmUp(WarmUpChoice.IF_MEASURING);
        WarmUp.Round round = (_, _, isServer, _) -> {
            if (isServer) {
                sleepForLong();
            }
            return false;
        };
        WarmUp.perform("ib_write_lat", round, environment);
        assertThat(threads()).isEmpty();
    }

    @Test
    void closingEndsItDuringARound() throws InterruptedException {
        environment.warmUp(WarmUpChoice.IF_MEASURING);
        Meeting meeting = new Meeting();
        WarmUp warmUp = WarmUp.start(meeting, environment);
        meeting.begun.await();
        warmUp.close();
        assertThat(threads()).isEmpty();
        warmUp.close();
        assertThat(out() + err()).isEmpty();
    }

    @Test
    void closingEndsItBeforeTheServerListens() throws InterruptedException {
        environment.warmUp(WarmUpChoice.IF_MEASURING);
        CountDownLatch begun = new CountDownLatch(2);
        WarmUp.Round round = (_, _, isServer, _) -> {
            begun.countDown();
            if (isServer) {
                sleepForLong();
            }
            return false;
        };
        WarmUp warmUp = WarmUp.start(round, environment);
        begun.await();
        warmUp.close();
        assertThat(threads()).isEmpty();
    }

    @Test
    void anInterruptEndsIt() {
        environment.warmUp(WarmUpChoice.IF_MEASURING);
        Thread.currentThread().interrupt();
        WarmUp.perform("ib_write_lat", (_, _, _, _) -> true, environment);
        assertThat(Thread.interrupted()).isTrue();
    }
}

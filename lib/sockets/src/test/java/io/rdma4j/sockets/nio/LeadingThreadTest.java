package io.rdma4j.sockets.nio;

import static org.assertj.core.api.Assertions.assertThat;

import io.rdma4j.fixture.BlockedThread;
import io.rdma4j.sockets.PollEvents;
import io.rdma4j.sockets.RdmaPoll;
import io.rdma4j.sockets.RdmaSelectorProvider;
import io.rdma4j.sockets.RdmaStreamSocket;
import io.rdma4j.sockets.options.AddressRules;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.util.Arrays;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

/**
 * One of several waiting threads (the leader) receives the packets of all. If another thread waits for a packet, the
 * packet costs a switch to that thread.
 */
class LeadingThreadTest {
    private static final long PATIENCE_NANOS = TimeUnit.SECONDS.toNanos(10);

    /** A call that waits until its thread is interrupted. */
    interface Wait {
        void run() throws IOException;
    }

    @Test
    void threadThatAcceptsLeavesTheDeviceToAThreadThatReads() throws Exception {
        try (Loopback pair = new Loopback(provider())) {
            requireLeavesDevice(pair, () -> pair.listener.accept());
        }
    }

    @Test
    void selectorOfAListenerLeavesTheDeviceToAThreadThatReads() throws Exception {
        try (Loopback pair = new Loopback(provider());
                Selector selector = provider().openSelector()) {
            pair.listener.configureBlocking(false).register(selector, SelectionKey.OP_ACCEPT);
            requireLeavesDevice(pair, selector::select);
        }
    }

    @Test
    void selectorOfAChannelWithoutInterestLeavesTheDeviceToAThreadThatReads() throws Exception {
        try (Loopback other = new Loopback(provider());
                Loopback pair = new Loopback(provider());
                Selector selector = other.selector(SelectionKey.OP_READ, 0)) {
            assertThat(selector.selectNow()).isZero();
            other.client.keyFor(selector).interestOps(0);
            requireLeavesDevice(pair, selector::select);
        }
    }

    @Test
    void pollOfAListenerLeavesTheDeviceToAThreadThatReads() throws Exception {
        try (Loopback pair = new Loopback(provider());
                RdmaStreamSocket listener = RdmaStreamSocket.open();
                RdmaPoll poll = RdmaPoll.open()) {
            listener.bind(new InetSocketAddress(Loopback.address(), 0));
            listener.listen(1);
            poll.add(listener, PollEvents.IN);
            requireLeavesDevice(pair, () -> poll.await(null));
        }
    }

    @Test
    void threadThatCameLastSucceedsALeaderThatHasItsData() throws Exception {
        try (Loopback first = new Loopback(provider());
                Loopback second = new Loopback(provider());
                Loopback third = new Loopback(provider())) {
            Thread leader = startReading(first);
            awaitLeader(leader);
            Thread follower = startReading(second);
            BlockedThread.await(follower);
            Thread last = startReading(third);
            BlockedThread.await(last);
            first.client.write(ByteBuffer.wrap(new byte[1]));
            leader.join();
            awaitLeader(last);
            end(follower);
            end(last);
        }
    }

    private static RdmaSelectorProvider provider() {
        return new RdmaSelectorProvider(AddressRules.parse("*=rdma"));
    }

    private static void requireLeavesDevice(Loopback pair, Wait wait) throws InterruptedException {
        Thread waiting = start(wait);
        BlockedThread.await(waiting);
        Thread reading = startReading(pair);
        awaitLeader(reading);
        end(reading);
        end(waiting);
    }

    private static void end(Thread waiting) throws InterruptedException {
        waiting.interrupt();
        waiting.join();
    }

    private static Thread startReading(Loopback pair) {
        return start(() -> pair.server.read(ByteBuffer.allocate(1)));
    }

    private static Thread start(Wait wait) {
        return Thread.ofPlatform().start(() -> {
            try {
                wait.run();
            } catch (IOException ended) {
                assertThat(Thread.currentThread().isInterrupted())
                        .as("%s", ended)
                        .isTrue();
            }
        });
    }

    private static void awaitLeader(Thread thread) throws InterruptedException {
        long begin = System.nanoTime();
        while (!isLeader(thread)) {
            assertThat(System.nanoTime() - begin)
                    .as("nanoseconds until the thread leads")
                    .isLessThan(PATIENCE_NANOS);
            Thread.sleep(1);
        }
    }

    private static boolean isLeader(Thread thread) {
        return Arrays.stream(thread.getStackTrace())
                .anyMatch(frame -> frame.getClassName().endsWith(".WaitCoordinator")
                        && frame.getMethodName().equals("lead"));
    }
}

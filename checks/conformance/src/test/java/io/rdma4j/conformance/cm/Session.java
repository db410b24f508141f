package io.rdma4j.conformance.cm;

import static org.assertj.core.api.Assertions.assertThat;

import io.rdma4j.cm.CmEvent;
import io.rdma4j.cm.CmId;
import io.rdma4j.cm.ConnectionParameters;
import io.rdma4j.cm.EventChannel;
import io.rdma4j.conformance.device.TestDevices;
import io.rdma4j.value.AccessFlag;
import io.rdma4j.value.CompletionStatus;
import io.rdma4j.value.PortSpace;
import io.rdma4j.verbs.CompletionQueue;
import io.rdma4j.verbs.MemoryRegion;
import io.rdma4j.verbs.QueuePair;
import io.rdma4j.verbs.QueuePairCapabilities;
import io.rdma4j.verbs.QueuePairInitAttributes;
import io.rdma4j.verbs.ReceiveWorkRequest;
import io.rdma4j.verbs.SendWorkRequest;
import io.rdma4j.verbs.WorkCompletion;
import io.rdma4j.verbs.wait.Waiter;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.Arrays;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/** Steps of connecting, for tests. */
final class Session {
    static final Duration PATIENCE = TestDevices.patience();
    static final QueuePairCapabilities SIZES = new QueuePairCapabilities(16, 16, 1, 1, 64);

    private Session() {}

    static EventChannel channel() {
        return EventChannel.open();
    }

    static CmId listener(EventChannel channel, InetAddress address) {
        CmId listener = channel.createId(PortSpace.TCP, "listener");
        listener.bindAddress(new InetSocketAddress(address, 0));
        listener.listen(0);
        return listener;
    }

    /** Takes the next event, which must be of the given type and of status 0, and acknowledges it. */
    static CmEvent expect(EventChannel channel, CmEvent.Type type) {
        CmEvent event = next(channel, type);
        assertThat(event.status()).as(event.toString()).isZero();
        event.acknowledge();
        return event;
    }

    static CmEvent next(EventChannel channel, CmEvent.Type type) {
        CmEvent event = Objects.requireNonNull(channel.await(PATIENCE), "no event of type " + type);
        assertThat(event.type()).as(event.toString()).isEqualTo(type);
        return event;
    }

    /** Creates a client whose route is resolved, with a queue pair. */
    static CmId resolved(EventChannel channel, @Nullable InetSocketAddress source, InetSocketAddress destination) {
        CmId client = channel.createId(PortSpace.TCP, "client");
        client.resolveAddress(source, destination, PATIENCE);
        expect(channel, CmEvent.Type.ADDRESS_RESOLVED);
        client.resolveRoute(PATIENCE);
        expect(channel, CmEvent.Type.ROUTE_RESOLVED);
        client.createQueuePair(QueuePairInitAttributes.of(SIZES));
        return client;
    }

    /** Connects a client to a listener; returns the listener's side. */
    static CmId connect(EventChannel clients, CmId client, EventChannel servers) {
        client.connect(ConnectionParameters.defaults());
        CmEvent request = expect(servers, CmEvent.Type.CONNECT_REQUEST);
        CmId server = request.id();
        server.createQueuePair(QueuePairInitAttributes.of(SIZES));
        server.accept();
        expect(clients, CmEvent.Type.ESTABLISHED);
        expect(servers, CmEvent.Type.ESTABLISHED);
        return server;
    }

    /** Sends a text from one side to the other, and waits until both have completed. */
    static void transfer(CmId from, CmId to, String text) {
        try (Arena arena = Arena.ofShared()) {
            MemorySegment source = arena.allocate(256);
            MemorySegment target = arena.allocate(256);
            source.setString(0, text);
            try (MemoryRegion sent = from.protectionDomain().register(source);
                    MemoryRegion received = to.protectionDomain().register(target, AccessFlag.LOCAL_WRITE)) {
                queuePair(to).postReceive(new ReceiveWorkRequest().reset(1).into(received, 0, 256));
                queuePair(from)
                        .postSend(new SendWorkRequest()
                                .reset(2)
                                .from(sent, 0, 256)
                                .signaled());
                await(to.receiveCompletions());
                await(from.sendCompletions());
            }
            assertThat(target.getString(0)).isEqualTo(text);
        }
    }

    static void await(@Nullable CompletionQueue queue) {
        Objects.requireNonNull(queue);
        WorkCompletion[] one = {new WorkCompletion()};
        long end = System.nanoTime() + PATIENCE.toNanos();
        while (queue.poll(one) == 0) {
            assertThat(System.nanoTime()).as("no completion in time").isLessThan(end);
        }
        assertThat(one[0].status()).isEqualTo(CompletionStatus.SUCCESS);
    }

    static void disconnect(EventChannel clients, CmId client, EventChannel servers, CmId server) {
        client.disconnect();
        expect(servers, CmEvent.Type.DISCONNECTED);
        server.disconnect();
        expect(clients, CmEvent.Type.DISCONNECTED);
    }

    /** Waits for the next completion of a queue, which may be a failure. */
    static WorkCompletion completion(@Nullable CompletionQueue queue) {
        WorkCompletion[] one = WorkCompletion.array(1);
        assertThat(Objects.requireNonNull(queue).await(one, PATIENCE))
                .as("completions in time")
                .isEqualTo(1);
        return one[0];
    }

    /** Returns the queue pair of an identifier that has one. */
    static QueuePair queuePair(CmId id) {
        return Objects.requireNonNull(id.queuePair());
    }

    /** Returns whether a thread waits: parked, or driving the device meanwhile. */
    static boolean isBlocked(Thread thread) {
        Thread.State state = thread.getState();
        return state == Thread.State.WAITING
                || state == Thread.State.TIMED_WAITING
                || Arrays.stream(thread.getStackTrace())
                        .anyMatch(frame -> frame.getClassName().equals(Waiter.class.getName())
                                && frame.getMethodName().equals("await"));
    }
}

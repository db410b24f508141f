package io.rdma4j.conformance.cm;

import static io.rdma4j.conformance.cm.Session.PATIENCE;
import static io.rdma4j.conformance.cm.Session.SIZES;
import static org.assertj.core.api.Assertions.assertThat;

import io.rdma4j.cm.CmEvent;
import io.rdma4j.cm.CmId;
import io.rdma4j.cm.ConnectionParameters;
import io.rdma4j.cm.EventChannel;
import io.rdma4j.conformance.device.Capability;
import io.rdma4j.conformance.device.TestDevices;
import io.rdma4j.value.AccessFlag;
import io.rdma4j.value.PortSpace;
import io.rdma4j.value.QueuePairState;
import io.rdma4j.verbs.AsyncEvent;
import io.rdma4j.verbs.CompletionChannel;
import io.rdma4j.verbs.CompletionQueue;
import io.rdma4j.verbs.Device;
import io.rdma4j.verbs.DeviceContext;
import io.rdma4j.verbs.MemoryRegion;
import io.rdma4j.verbs.ProtectionDomain;
import io.rdma4j.verbs.QueuePair;
import io.rdma4j.verbs.QueuePairAttributes;
import io.rdma4j.verbs.QueuePairInitAttributes;
import io.rdma4j.verbs.RdmaException;
import io.rdma4j.verbs.ReceiveWorkRequest;
import io.rdma4j.verbs.WorkCompletion;
import java.lang.foreign.Arena;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.TestFactory;
import org.junit.jupiter.api.Timeout;

/**
 * Every blocking call of the connection manager and of the verbs ends when another thread closes its object, and when
 * its thread is interrupted.
 *
 * <p>The call reports which of the two happened. Addresses, routes and groups of the software device are resolved without
 * blocking.
 */
@Timeout(60)
class BlockingCallsTest {
    private static final InetAddress ADDRESS = TestDevices.address();
    private static final Duration LONG = Duration.ofDays(1);

    /** Creates the object that a call waits for. Resources to close after the test are pushed on the stack. */
    private interface Setting {
        Wait make(Deque<Runnable> cleanup);
    }

    /**
     * A blocking call.
     *
     * @param call the call; returns its result
     * @param close closes the object that it waits for
     */
    private record Wait(Callable<@Nullable Object> call, Runnable close) {
        static Wait of(Runnable call, Runnable close) {
            return new Wait(
                    () -> {
                        call.run();
                        return "returned";
                    },
                    close);
        }
    }

    private enum End {
        CLOSED,
        INTERRUPTED
    }

    private static Stream<DynamicTest> row(String name, String whenClosed, String whenInterrupted, Setting setting) {
        return Stream.of(
                DynamicTest.dynamicTest(name + ", closed", () -> check(setting, End.CLOSED, whenClosed)),
                DynamicTest.dynamicTest(
                        name + ", interrupted", () -> check(setting, End.INTERRUPTED, whenInterrupted)));
    }

    private static void check(Setting setting, End end, String expected) throws Exception {
        Deque<Runnable> cleanup = new ArrayDeque<>();
        Wait wait = setting.make(cleanup);
        CompletableFuture<String> outcome = new CompletableFuture<>();
        Thread waiting = Thread.ofPlatform().daemon().start(() -> outcome.complete(outcome(wait.call())));
        awaitBlocked(waiting);
        assertThat(outcome).as("the call waits").isNotDone();
        if (end == End.CLOSED) {
            wait.close().run();
        } else {
            waiting.interrupt();
        }
        assertThat(outcome.get(PATIENCE.toSeconds(), TimeUnit.SECONDS)).isEqualTo(expected);
        cleanup.forEach(Runnable::run);
    }

    private static String outcome(Callable<@Nullable Object> call) {
        String result;
        try {
            result = String.valueOf(call.call());
        } catch (RdmaException e) {
            boolean namesClosing = String.valueOf(e.getMessage()).contains("closed");
            result = e.operation() + " " + e.errno() + (namesClosing ? ", closed" : "");
        } catch (Exception e) {
            result = e.toString();
        }
        return Thread.currentThread().isInterrupted() ? result + ", interrupted" : result;
    }

    /** Waits until the thread blocks. If the object is closed before the thread waits, the outcome is the same. */
    private static void awaitBlocked(Thread thread) throws InterruptedException {
        for (int checks = 0; thread.isAlive() && !Session.isBlocked(thread) && checks < 200; checks++) {
            Thread.sleep(1); // a thread that drives the device blocks in the kernel, which its state does not show
        }
    }

    @TestFactory
    Stream<DynamicTest> callsOfTheConnectionManager() {
        return Stream.of(
                        call("rdma_get_request", cleanup -> {
                            CmId listener = bound(PortSpace.TCP);
                            listener.listen(0);
                            cleanup.push(listener::close);
                            return Wait.of(listener::getRequest, listener::close);
                        }),
                        call("rdma_connect", cleanup -> {
                            CmId client = resolved(listener(cleanup));
                            cleanup.push(client::close);
                            return Wait.of(() -> client.connect(), client::close);
                        }),
                        call("rdma_accept", cleanup -> {
                            TestDevices.require(Capability.CONFIRMATIONS);
                            CmId server = requested(cleanup);
                            return Wait.of(() -> server.accept(), server::close);
                        }),
                        call("rdma_disconnect", cleanup -> {
                            TestDevices.require(Capability.CONFIRMATIONS);
                            CmId client = connected(cleanup);
                            return Wait.of(client::disconnect, client::close);
                        }),
                        completions("rdma_get_send_comp", cleanup -> {
                            CmId client = connected(cleanup);
                            CompletionQueue queue = Objects.requireNonNull(client.sendCompletions());
                            return new Wait(() -> queue.await(WorkCompletion.array(1)), client::close);
                        }),
                        completions("rdma_get_recv_comp", cleanup -> {
                            CmId client = connected(cleanup);
                            CompletionQueue queue = Objects.requireNonNull(client.receiveCompletions());
                            return new Wait(() -> queue.await(WorkCompletion.array(1)), client::close);
                        }),
                        completions("rdma_get_recv_comp with a time-out", cleanup -> {
                            CmId client = connected(cleanup);
                            CompletionQueue queue = Objects.requireNonNull(client.receiveCompletions());
                            return new Wait(() -> queue.await(WorkCompletion.array(1), LONG), client::close);
                        }),
                        call("rdma_get_cm_event", cleanup -> {
                            EventChannel channel = EventChannel.open();
                            cleanup.push(channel::close);
                            return new Wait(channel::await, channel::close);
                        }),
                        row("rdma_destroy_id, for an event", "returned", "returned, interrupted", cleanup -> {
                            CmEvent held = heldEvent(cleanup);
                            return Wait.of(held.id()::close, () -> {
                                inThread(held.id()::close).join();
                                held.acknowledge();
                            });
                        }),
                        row("rdma_migrate_id", "returned", "rdma_migrate_id EINTR, interrupted", cleanup -> {
                            CmEvent held = heldEvent(cleanup);
                            EventChannel target = EventChannel.open();
                            cleanup.addLast(target::close);
                            return Wait.of(() -> held.id().migrate(target), () -> {
                                CompletableFuture<Void> closer = inThread(held.id()::close);
                                held.acknowledge();
                                closer.join();
                            });
                        }),
                        row("rdma_leave_multicast", "returned", "rdma_leave_multicast EINTR, interrupted", cleanup -> {
                            TestDevices.require(Capability.MULTICAST);
                            EventChannel channel = EventChannel.open();
                            CmId member = channel.createId(PortSpace.UDP);
                            member.bindAddress(new InetSocketAddress(ADDRESS, 0));
                            InetAddress group = TestDevices.group();
                            member.joinMulticast(group);
                            CmEvent held = Session.next(channel, CmEvent.Type.MULTICAST_JOIN);
                            cleanup.push(channel::close);
                            cleanup.push(member::close);
                            cleanup.push(held::acknowledge);
                            return Wait.of(() -> member.leaveMulticast(group), () -> {
                                CompletableFuture<Void> closer = inThread(member::close);
                                held.acknowledge();
                                closer.join();
                            });
                        }))
                .flatMap(tests -> tests);
    }

    /** A wait of {@link CompletionQueue#await}. */
    private static Stream<DynamicTest> completions(String name, Setting setting) {
        return row(name, "ibv_get_cq_event EINVAL, closed", "ibv_get_cq_event EINTR, interrupted", setting);
    }

    private static Stream<DynamicTest> call(String operation, Setting setting) {
        return row(operation, operation + " EINVAL, closed", operation + " EINTR, interrupted", setting);
    }

    @TestFactory
    Stream<DynamicTest> callsOfTheVerbs() {
        return Stream.of(
                        call("ibv_get_cq_event", cleanup -> {
                            DeviceContext context = open(cleanup);
                            CompletionChannel channel = context.createCompletionChannel();
                            return new Wait(channel::await, channel::close);
                        }),
                        row(
                                "ibv_get_cq_event, device closed",
                                "ibv_get_cq_event EINVAL, closed",
                                "ibv_get_cq_event EINTR, interrupted",
                                cleanup -> {
                                    DeviceContext context = open(cleanup);
                                    CompletionChannel channel = context.createCompletionChannel();
                                    context.createCompletionQueue(4, channel);
                                    return new Wait(() -> channel.await(LONG), context::close);
                                }),
                        call("ibv_get_async_event", cleanup -> {
                            DeviceContext context = open(cleanup);
                            return new Wait(() -> context.takeAsyncEvent(LONG), context::close);
                        }),
                        row(
                                "ibv_destroy_cq, for an event",
                                "returned",
                                "ibv_destroy_cq EINTR, interrupted",
                                cleanup -> {
                                    DeviceContext context = open(cleanup);
                                    CompletionQueue held = heldQueue(context);
                                    return Wait.of(held::close, context::close);
                                }),
                        row(
                                "ibv_destroy_cq, for an asynchronous event",
                                "returned",
                                "returned, interrupted",
                                cleanup -> {
                                    DeviceContext context = open(cleanup);
                                    CompletionQueue overrun = overrunQueue(context);
                                    return Wait.of(overrun::close, context::close);
                                }))
                .flatMap(tests -> tests);
    }

    // ---- settings

    private static DeviceContext open(Deque<Runnable> cleanup) {
        DeviceContext context = Device.of(ADDRESS).orElseThrow().open();
        cleanup.push(context::close);
        return context;
    }

    private static QueuePair failed(DeviceContext context, CompletionQueue completions, int receives) {
        ProtectionDomain domain = context.createProtectionDomain();
        QueuePair queuePair = domain.createQueuePair(QueuePairInitAttributes.reliable(completions, SIZES));
        queuePair.modify(new QueuePairAttributes()
                .state(QueuePairState.INIT)
                .partitionKeyIndex(0)
                .port(1)
                .accessFlags(Set.of()));
        MemoryRegion memory = domain.register(Arena.ofAuto().allocate(8), AccessFlag.LOCAL_WRITE);
        for (int i = 0; i < receives; i++) { // siw takes no empty ones
            queuePair.postReceive(new ReceiveWorkRequest().reset(i).into(memory));
        }
        queuePair.modify(new QueuePairAttributes().state(QueuePairState.ERROR));
        return queuePair;
    }

    /** A completion queue with an unacknowledged event and without queue pairs. */
    private static CompletionQueue heldQueue(DeviceContext context) {
        CompletionChannel channel = context.createCompletionChannel();
        CompletionQueue queue = context.createCompletionQueue(4, channel);
        queue.requestNotification(false);
        QueuePair queuePair = failed(context, queue, 1);
        assertThat(channel.await(PATIENCE)).isSameAs(queue);
        queuePair.close();
        return queue;
    }

    /**
     * A completion queue that has overrun, without queue pairs, and whose event is not acknowledged. A kernel flushes
     * receives in the background, but not those of a queue pair that is closed.
     */
    private static CompletionQueue overrunQueue(DeviceContext context) {
        CompletionQueue queue = context.createCompletionQueue(1);
        QueuePair failed = failed(context, queue, SIZES.maxReceiveWorkRequests());
        AsyncEvent event = context.takeAsyncEvent(PATIENCE);
        while (event != null && !event.source().equals(queue)) {
            context.acknowledge(event);
            event = context.takeAsyncEvent(PATIENCE);
        }
        assertThat(event).isNotNull();
        failed.close();
        return queue;
    }

    private static CmId bound(PortSpace space) {
        CmId id = CmId.create(space);
        id.bindAddress(new InetSocketAddress(ADDRESS, 0));
        return id;
    }

    /** A listener whose requests are queued in a channel. */
    private static CmId listener(Deque<Runnable> cleanup) {
        EventChannel servers = EventChannel.open();
        CmId listener = Session.listener(servers, ADDRESS);
        cleanup.push(servers::close);
        cleanup.push(listener::close);
        return listener;
    }

    private static CmId resolved(CmId listener) {
        CmId client = CmId.create(PortSpace.TCP);
        client.resolveAddress(new InetSocketAddress(ADDRESS, listener.sourcePort()), PATIENCE);
        client.resolveRoute(PATIENCE);
        client.createQueuePair(QueuePairInitAttributes.of(SIZES));
        return client;
    }

    /** The identifier of a request whose peer does not confirm the acceptance. */
    private static CmId requested(Deque<Runnable> cleanup) {
        CmId listener = bound(PortSpace.TCP);
        listener.listen(0);
        EventChannel clients = EventChannel.open();
        CmId client = Session.resolved(clients, null, new InetSocketAddress(ADDRESS, listener.sourcePort()));
        client.connect(ConnectionParameters.defaults());
        CmId server = listener.getRequest();
        server.createQueuePair(QueuePairInitAttributes.of(SIZES));
        cleanup.push(clients::close);
        cleanup.push(client::close);
        cleanup.push(listener::close);
        cleanup.push(server::close);
        return server;
    }

    /** An identifier that is connected to one that does not reply to its disconnect. */
    private static CmId connected(Deque<Runnable> cleanup) {
        CmId listener = listener(cleanup);
        EventChannel servers = Objects.requireNonNull(listener.channel());
        CmId client = resolved(listener);
        CompletableFuture<Void> connecting = inThread(() -> client.connect());
        CmId server = Session.expect(servers, CmEvent.Type.CONNECT_REQUEST).id();
        server.createQueuePair(QueuePairInitAttributes.of(SIZES));
        server.accept();
        Session.expect(servers, CmEvent.Type.ESTABLISHED);
        connecting.join();
        cleanup.push(server::close);
        cleanup.push(client::close);
        return client;
    }

    /** An event that the calling thread holds. */
    private static CmEvent heldEvent(Deque<Runnable> cleanup) {
        EventChannel channel = EventChannel.open();
        CmId id = channel.createId(PortSpace.TCP);
        id.resolveAddress(new InetSocketAddress(ADDRESS, 1), PATIENCE);
        CmEvent held = Session.next(channel, CmEvent.Type.ADDRESS_RESOLVED);
        cleanup.push(channel::close);
        cleanup.push(id::close);
        cleanup.push(held::acknowledge);
        return held;
    }

    private static CompletableFuture<Void> inThread(Runnable action) {
        CompletableFuture<Void> result = new CompletableFuture<>();
        Thread.ofPlatform().daemon().start(() -> {
            try {
                action.run();
                result.complete(null);
            } catch (RuntimeException failed) {
                result.completeExceptionally(failed);
            }
        });
        return result;
    }
}

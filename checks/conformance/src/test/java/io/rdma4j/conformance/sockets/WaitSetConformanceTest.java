package io.rdma4j.conformance.sockets;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.rdma4j.cm.CmEvent;
import io.rdma4j.cm.CmId;
import io.rdma4j.cm.ConnectionManager;
import io.rdma4j.cm.ConnectionParameters;
import io.rdma4j.cm.EventChannel;
import io.rdma4j.conformance.device.TestDevices;
import io.rdma4j.sockets.PollEvents;
import io.rdma4j.sockets.RdmaStreamSocket;
import io.rdma4j.value.PortSpace;
import io.rdma4j.verbs.ClosedException;
import io.rdma4j.verbs.CompletionChannel;
import io.rdma4j.verbs.DeviceContext;
import io.rdma4j.verbs.Errno;
import io.rdma4j.verbs.QueuePairInitAttributes;
import io.rdma4j.verbs.RdmaException;
import io.rdma4j.verbs.WaitSet;
import io.rdma4j.verbs.wait.Waitable;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** One thread waits for channels, events and sockets together. */
@Timeout(60)
class WaitSetConformanceTest {
    private static final Duration PATIENCE = Duration.ofSeconds(20);
    private static final Duration SHORT = Duration.ofMillis(20);
    private static final InetSocketAddress ANY_PORT = new InetSocketAddress(TestDevices.address(), 0);

    private static DeviceContext device() {
        return ConnectionManager.ofProcess().devices().stream()
                .filter(context -> context.device().name().equals(TestDevices.name()))
                .findFirst()
                .orElseThrow();
    }

    private static FutureTask<List<Waitable>> start(WaitSet set) {
        FutureTask<List<Waitable>> waiting = new FutureTask<>(set::await);
        Thread.ofPlatform().daemon().start(waiting);
        return waiting;
    }

    @Test
    void eventChannelIsReadyUntilItsEventIsTaken() {
        try (EventChannel events = EventChannel.open();
                CompletionChannel completions = device().createCompletionChannel();
                WaitSet set = WaitSet.of(completions, device().asyncEvents(), events);
                CmId id = events.createId(PortSpace.TCP)) {
            assertThat(set.await(SHORT)).isEmpty();
            id.resolveAddress(new InetSocketAddress(TestDevices.address(), 1), PATIENCE);
            assertThat(set.await(PATIENCE)).containsExactly(events);
            assertThat(set.await(PATIENCE)).containsExactly(events);
            try (CmEvent event = Objects.requireNonNull(events.poll())) {
                assertThat(event.type()).isEqualTo(CmEvent.Type.ADDRESS_RESOLVED);
            }
            assertThat(set.poll()).isEmpty();
        }
    }

    @Test
    void waitForAnEventOfAConnectionEndsWhenItArrives() throws Exception {
        try (EventChannel events = EventChannel.open();
                CmId listener = events.createId(PortSpace.TCP);
                CmId client = CmId.create(PortSpace.TCP);
                WaitSet set = WaitSet.of(events)) {
            listener.bindAddress(ANY_PORT);
            listener.listen(1);
            client.resolveAddress(new InetSocketAddress(TestDevices.address(), listener.sourcePort()), PATIENCE);
            client.resolveRoute(PATIENCE);
            FutureTask<List<Waitable>> waiting = start(set);
            Thread connecting = Thread.ofPlatform().daemon().start(() -> {
                client.createQueuePair(QueuePairInitAttributes.defaults());
                try {
                    client.connect(ConnectionParameters.defaults());
                } catch (RdmaException rejected) {
                    return; // as this test does
                }
            });
            assertThat(waiting.get(20, TimeUnit.SECONDS)).containsExactly(events);
            try (CmEvent event = Objects.requireNonNull(events.poll())) {
                assertThat(event.type()).isEqualTo(CmEvent.Type.CONNECT_REQUEST);
                event.id().reject(new byte[0]);
                event.id().close();
            } finally {
                connecting.join();
            }
        }
    }

    @Test
    void socketIsReadyWhileItHasData() throws IOException {
        try (RdmaStreamSocket acceptor = RdmaStreamSocket.open();
                RdmaStreamSocket client = RdmaStreamSocket.open();
                CompletionChannel completions = device().createCompletionChannel()) {
            acceptor.bind(ANY_PORT);
            acceptor.listen(1);
            Waitable connections = acceptor.readiness(PollEvents.IN);
            try (WaitSet set = WaitSet.of(completions, connections)) {
                client.configureBlocking(false);
                boolean _ = client.connect(Objects.requireNonNull(acceptor.localAddress()));
                assertThat(set.await(PATIENCE)).containsExactly(connections);
                try (RdmaStreamSocket server = Objects.requireNonNull(acceptor.accept())) {
                    Waitable input = server.readiness(PollEvents.IN);
                    set.add(input);
                    assertThat(client.await(PollEvents.OUT, PATIENCE)).isEqualTo(PollEvents.OUT);
                    assertThat(client.finishConnect()).isTrue();
                    assertThat(set.await(SHORT)).isEmpty();
                    assertThat(client.send(ByteBuffer.wrap(new byte[3]))).isEqualTo(3);
                    assertThat(set.await(PATIENCE)).containsExactly(input);
                    assertThat(server.receive(ByteBuffer.allocate(8))).isEqualTo(3);
                    assertThat(set.await(SHORT)).isEmpty();
                    set.remove(input);
                    assertThat(client.send(ByteBuffer.wrap(new byte[1]))).isEqualTo(1);
                    assertThat(set.await(SHORT)).isEmpty();
                }
            }
        }
    }

    @Test
    void objectThatIsAddedEndsTheWaitIfItIsReady() throws Exception {
        try (EventChannel events = EventChannel.open();
                CompletionChannel completions = device().createCompletionChannel();
                WaitSet set = WaitSet.of(completions);
                CmId id = events.createId(PortSpace.TCP)) {
            FutureTask<List<Waitable>> waiting = start(set);
            id.resolveAddress(new InetSocketAddress(TestDevices.address(), 1), PATIENCE);
            set.add(events);
            assertThat(waiting.get(20, TimeUnit.SECONDS)).containsExactly(events);
            assertThatThrownBy(() -> set.add(events)).isInstanceOf(IllegalArgumentException.class);
            Objects.requireNonNull(events.poll()).acknowledge();
        }
    }

    @Test
    void wakeupEndsTheWaitInProgressOrTheNextOne() throws Exception {
        try (CompletionChannel completions = device().createCompletionChannel();
                WaitSet set = WaitSet.of(completions)) {
            FutureTask<List<Waitable>> waiting = start(set);
            set.wakeup();
            assertThat(waiting.get(20, TimeUnit.SECONDS)).isEmpty();
            set.wakeup();
            assertThat(set.await()).isEmpty();
        }
    }

    @Test
    void closeAndInterruptEndTheWait() throws Exception {
        try (CompletionChannel completions = device().createCompletionChannel()) {
            WaitSet set = WaitSet.of(completions);
            FutureTask<List<Waitable>> waiting = start(set);
            set.close();
            assertThatThrownBy(() -> waiting.get(20, TimeUnit.SECONDS)).hasCauseInstanceOf(ClosedException.class);
            assertThatThrownBy(set::poll).isInstanceOf(ClosedException.class);
            assertThatThrownBy(() -> set.await(PATIENCE)).isInstanceOf(ClosedException.class);
            assertThatThrownBy(() -> set.add(completions)).isInstanceOf(ClosedException.class);
            try (WaitSet other = WaitSet.of(completions)) {
                Thread.currentThread().interrupt();
                assertThatThrownBy(other::await)
                        .isInstanceOfSatisfying(
                                RdmaException.class, e -> assertThat(e.errno()).isEqualTo(Errno.EINTR));
                assertThat(Thread.interrupted())
                        .as("the interrupt status stays set")
                        .isTrue();
            }
        }
    }

    @Test
    void emptySetHasNothingToWaitFor() {
        try (WaitSet set = new WaitSet()) {
            assertThat(set.poll()).isEmpty();
            assertThatThrownBy(set::await).isInstanceOf(IllegalStateException.class);
        }
    }
}

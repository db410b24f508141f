package io.rdma4j.conformance.cm;

import static io.rdma4j.conformance.cm.Session.PATIENCE;
import static io.rdma4j.conformance.cm.Session.SIZES;
import static io.rdma4j.conformance.cm.Session.listener;
import static io.rdma4j.conformance.cm.Session.transfer;
import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import io.rdma4j.cm.CmEvent;
import io.rdma4j.cm.CmId;
import io.rdma4j.cm.EventChannel;
import io.rdma4j.conformance.device.Driver;
import io.rdma4j.conformance.device.NotOn;
import io.rdma4j.conformance.device.TestDevices;
import io.rdma4j.value.PortSpace;
import io.rdma4j.verbs.ClosedException;
import io.rdma4j.verbs.Errno;
import io.rdma4j.verbs.QueuePairInitAttributes;
import io.rdma4j.verbs.RdmaException;
import java.net.InetSocketAddress;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Identifiers without a channel, whose calls block. */
@Timeout(60)
class SynchronousTest {
    private final ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor();

    @AfterEach
    void stop() {
        threads.shutdownNow();
    }

    private static CmId listening() {
        CmId listener = CmId.create(PortSpace.TCP, "context");
        listener.bindAddress(new InetSocketAddress(TestDevices.address(), 0));
        listener.listen(0);
        return listener;
    }

    private static CmId resolved(int port) {
        CmId client = CmId.create(PortSpace.TCP);
        client.resolveAddress(new InetSocketAddress(TestDevices.address(), port), PATIENCE);
        assertThat(Objects.requireNonNull(client.event()).type()).isEqualTo(CmEvent.Type.ADDRESS_RESOLVED);
        client.resolveRoute(PATIENCE);
        assertThat(Objects.requireNonNull(client.event()).type()).isEqualTo(CmEvent.Type.ROUTE_RESOLVED);
        client.createQueuePair(QueuePairInitAttributes.of(SIZES));
        return client;
    }

    @Test
    void callsReturnWhenTheirEventHasArrived() {
        CmId listener = listening();
        CompletableFuture<CmId> accepted = CompletableFuture.supplyAsync(
                () -> {
                    CmId server = listener.getRequest();
                    assertThat(Objects.requireNonNull(server.event()).type()).isEqualTo(CmEvent.Type.CONNECT_REQUEST);
                    server.createQueuePair(QueuePairInitAttributes.of(SIZES));
                    server.accept();
                    return server;
                },
                threads);
        CmId client = resolved(listener.sourcePort());
        client.connect();
        CmId server = accepted.join();
        assertThat(Objects.requireNonNull(server.event()).type()).isEqualTo(CmEvent.Type.ESTABLISHED);
        assertThat(Objects.requireNonNull(client.event()).type()).isEqualTo(CmEvent.Type.ESTABLISHED);
        assertThat(server.channel()).isNull();
        assertThat(server.context()).isEqualTo("context");
        transfer(client, server, "synchronous");
        CompletableFuture<Void> parted = CompletableFuture.runAsync(client::disconnect, threads);
        server.disconnect();
        parted.join();
        client.close();
        server.close();
        listener.close();
    }

    @Test
    @NotOn(value = Driver.SIW, because = "has iWARP, which reports a rejection as an errno")
    void rejectionIsConnectionRefusedAndItsEventRemains() {
        CmId listener = listening();
        CmId client = resolved(listener.sourcePort());
        CompletableFuture<Void> rejected = CompletableFuture.runAsync(
                () -> {
                    CmId server = listener.getRequest();
                    server.reject("no".getBytes(UTF_8));
                    server.close();
                },
                threads);
        RdmaException refused = catchThrowableOfType(RdmaException.class, () -> client.connect());
        rejected.join();
        assertThat(refused.errno()).isEqualTo(Errno.ECONNREFUSED);
        assertThat(refused).hasMessageContaining("was rejected: consumer defined (28)");
        CmEvent event = Objects.requireNonNull(client.event());
        assertThat(event.status()).isEqualTo(28);
        assertThat(event.privateData()).startsWith("no".getBytes(UTF_8));
        client.close();
        listener.close();
    }

    @Test
    @NotOn(value = Driver.SIW, because = "has iWARP, which refuses a request without a listener in the call itself")
    void requestWithoutListenerIsConnectionRefusedWithTheReason() {
        CmId listener = listening();
        int port = listener.sourcePort();
        listener.close();
        CmId client = resolved(port);
        assertThatThrownBy(() -> client.connect())
                .isInstanceOf(RdmaException.class)
                .hasMessageContaining("rdma_connect: Connection refused (ECONNREFUSED)")
                .hasMessageContaining("invalid service ID (8): nobody listens on port " + port);
        client.close();
    }

    @Test
    void anInterruptEndsTheWait() throws InterruptedException {
        CmId listener = listening();
        Thread waiting = Thread.ofVirtual().unstarted(() -> {
            RdmaException interrupted = catchThrowableOfType(RdmaException.class, listener::getRequest);
            assertThat(interrupted.errno()).isEqualTo(Errno.EINTR);
            assertThat(Thread.currentThread().isInterrupted()).isTrue();
        });
        Throwable[] failure = new Throwable[1];
        waiting.setUncaughtExceptionHandler((thread, thrown) -> failure[0] = thrown);
        waiting.start();
        waiting.interrupt();
        waiting.join();
        assertThat(failure[0]).isNull();
        listener.close();
    }

    @Test
    void migratingGoesFromSynchronousToAChannelAndBack() {
        CmId id = CmId.create(PortSpace.TCP);
        assertThatThrownBy(() -> id.migrate(null))
                .isInstanceOf(RdmaException.class)
                .hasMessageContaining("already synchronous");
        try (EventChannel channel = EventChannel.open()) {
            id.migrate(channel);
            assertThat(id.channel()).isSameAs(channel);
            id.bindAddress(new InetSocketAddress(TestDevices.address(), 0));
            id.listen(1);
            assertThatThrownBy(id::getRequest).isInstanceOf(RdmaException.class);
            id.migrate(null);
            assertThat(id.channel()).isNull();
            id.close();
        }
    }

    @Test
    void queuedEventsMoveWithTheIdentifier() {
        EventChannel from = EventChannel.open();
        EventChannel to = EventChannel.open();
        CmId listener = listener(from, TestDevices.address());
        CmId client = from.createId(PortSpace.TCP);
        client.resolveAddress(new InetSocketAddress(TestDevices.address(), listener.sourcePort()), PATIENCE);
        client.migrate(to);
        CmEvent event = Objects.requireNonNull(to.await(PATIENCE));
        assertThat(event.type()).isEqualTo(CmEvent.Type.ADDRESS_RESOLVED);
        event.acknowledge();
        assertThat(from.poll()).isNull();
        client.close();
        listener.close();
        from.close();
        to.close();
    }

    @Test
    void closingWaitsUntilEventsAreAcknowledged() throws InterruptedException {
        EventChannel channel = EventChannel.open();
        CmId client = channel.createId(PortSpace.TCP);
        client.resolveAddress(new InetSocketAddress(TestDevices.address(), 1), PATIENCE);
        CmEvent event = Objects.requireNonNull(channel.await(PATIENCE));
        Thread closer = Thread.ofPlatform().start(client::close);
        assertThat(closer.join(java.time.Duration.ofMillis(100))).isFalse();
        event.acknowledge();
        event.acknowledge(); // counts once
        assertThat(closer.join(PATIENCE)).isTrue();
        channel.close();
        assertThatThrownBy(channel::await).isInstanceOf(ClosedException.class);
    }

    @Test
    void aChannelWithIdentifiersStaysOpen() {
        EventChannel channel = EventChannel.open();
        CmId id = channel.createId(PortSpace.TCP);
        RdmaException busy = catchThrowableOfType(RdmaException.class, channel::close);
        assertThat(busy.errno()).isEqualTo(Errno.EBUSY);
        id.close();
        channel.close();
    }

    @Test
    void disconnectingAfterARejectionFailsAtOnce() {
        CmId listener = listening();
        int port = listener.sourcePort();
        listener.close();
        CmId client = resolved(port);
        assertThatThrownBy(() -> client.connect()).hasMessageContaining("ECONNREFUSED");
        RdmaException refused = catchThrowableOfType(RdmaException.class, client::disconnect);
        assertThat(refused.errno()).isEqualTo(Errno.EINVAL);
        assertThat(refused).hasMessageContaining("there is no connection");
        client.close();
    }

    @Test
    void disconnectingBeforeTheConnectionIsEstablishedFailsWithoutEffect() {
        CmId listener = listening();
        CmId client = resolved(listener.sourcePort());
        CompletableFuture<Void> connected = CompletableFuture.runAsync(() -> client.connect(), threads);
        CmId server = listener.getRequest();
        RdmaException refused = catchThrowableOfType(RdmaException.class, client::disconnect);
        assertThat(refused.errno()).isEqualTo(Errno.EINVAL);
        server.createQueuePair(QueuePairInitAttributes.of(SIZES));
        server.accept();
        connected.join();
        transfer(client, server, "unharmed");
        client.close();
        server.close();
        listener.close();
    }
}

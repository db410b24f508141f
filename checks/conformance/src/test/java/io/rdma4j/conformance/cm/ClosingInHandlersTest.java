package io.rdma4j.conformance.cm;

import static io.rdma4j.conformance.cm.Session.PATIENCE;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import io.rdma4j.cm.CmEvent;
import io.rdma4j.cm.CmId;
import io.rdma4j.cm.EventChannel;
import io.rdma4j.conformance.device.TestDevices;
import io.rdma4j.value.PortSpace;
import io.rdma4j.verbs.ClosedException;
import io.rdma4j.verbs.Errno;
import io.rdma4j.verbs.RdmaException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Connected identifiers and their channels are closed while an event is handled, by its thread and by others. */
@Timeout(60)
class ClosingInHandlersTest {
    private static final InetAddress ADDRESS = TestDevices.address();

    private static final Duration SHORT_WAIT = Duration.ofMillis(50);

    private final EventChannel servers = EventChannel.open();
    private final EventChannel clients = EventChannel.open();
    private final CmId listener = Session.listener(servers, ADDRESS);
    private final CmId client = Session.resolved(clients, null, new InetSocketAddress(ADDRESS, listener.sourcePort()));
    private final CmId server = Session.connect(clients, client, servers);

    @BeforeEach
    void disconnect() {
        client.disconnect();
    }

    @AfterEach
    void close() {
        server.close();
        client.close();
        listener.close();
        servers.close();
        clients.close();
    }

    /** Takes the event of the disconnect at the server. */
    private CmEvent take() {
        return Session.next(servers, CmEvent.Type.DISCONNECTED);
    }

    private static void await(CompletableFuture<?> call) throws Exception {
        call.get(PATIENCE.toSeconds(), TimeUnit.SECONDS);
    }

    private static CompletableFuture<Void> inThread(Runnable call) {
        CompletableFuture<Void> result = new CompletableFuture<>();
        Thread.ofVirtual().start(() -> {
            try {
                call.run();
                result.complete(null);
            } catch (RuntimeException | Error failed) {
                result.completeExceptionally(failed);
            }
        });
        return result;
    }

    /** Starts to close the server's identifier, and returns when that has begun. */
    private Thread startClosing() {
        Thread closing = Thread.ofPlatform().daemon().start(server::close);
        while (server.queuePair() != null) {
            assertThat(closing.isAlive()).as("it waits for the acknowledgement").isTrue();
            Thread.onSpinWait();
        }
        return closing;
    }

    /** Closes the channel as soon as the identifier that is being closed has left it. */
    private void closeServers() {
        boolean closed = false;
        while (!closed) {
            try {
                servers.close();
                closed = true;
            } catch (RdmaException busy) {
                assertThat(busy.errno()).isEqualTo(Errno.EBUSY);
            }
        }
    }

    // ---- the identifier

    @Test
    void identifierIsClosedByTheThreadThatHandlesItsEvent() {
        try (CmEvent event = take()) {
            event.id().close();
        }
        assertThat(server.queuePair()).isNull();
        Session.expect(clients, CmEvent.Type.DISCONNECTED);
    }

    @Test
    void identifierIsClosedByAnotherThreadWhileOneWaitsForEvents() throws Exception {
        take().acknowledge();
        CompletableFuture<CmEvent> next = new CompletableFuture<>();
        CompletableFuture<Void> waiting = inThread(() -> next.complete(servers.await()));
        await(inThread(server::close));
        Session.expect(clients, CmEvent.Type.DISCONNECTED);
        assertThat(waiting).isNotDone();
        CmId another = Session.resolved(clients, null, new InetSocketAddress(ADDRESS, listener.sourcePort()));
        another.connect();
        await(waiting);
        try (CmEvent request = next.join()) {
            assertThat(request.type()).isEqualTo(CmEvent.Type.CONNECT_REQUEST);
            request.id().close();
        }
        another.close();
    }

    @Test
    void identifierWaitsForTheEventThatAnotherThreadHandles() throws InterruptedException {
        CmEvent event = take();
        Thread closing = startClosing();
        assertThat(closing.join(SHORT_WAIT))
                .as("it waits for the acknowledgement")
                .isFalse();
        event.acknowledge();
        assertThat(closing.join(PATIENCE)).isTrue();
    }

    // ---- the channel

    @Test
    void channelIsClosedByTheThreadThatHandlesItsLastEvent() {
        listener.close();
        try (CmEvent event = take()) {
            RdmaException busy = catchThrowableOfType(RdmaException.class, servers::close);
            assertThat(busy.errno()).isEqualTo(Errno.EBUSY);
            event.id().close();
            servers.close();
        }
        assertThatThrownBy(servers::await).isInstanceOf(ClosedException.class);
        assertThat(catchThrowableOfType(RdmaException.class, () -> servers.createId(PortSpace.TCP)))
                .hasMessageContaining("the event channel is closed");
    }

    @Test
    void channelIsClosedByAnotherThreadWhileOneWaitsForEvents() throws Exception {
        take().acknowledge();
        server.close();
        listener.close();
        CompletableFuture<Void> waiting =
                inThread(() -> assertThatThrownBy(servers::await).isInstanceOf(ClosedException.class));
        await(inThread(servers::close));
        await(waiting);
    }

    @Test
    void channelDoesNotWaitForTheEventThatAnotherThreadHandles() throws Exception {
        listener.close();
        CmEvent event = take();
        Thread closing = startClosing();
        await(inThread(this::closeServers));
        assertThat(closing.isAlive()).as("it waits for the acknowledgement").isTrue();
        event.acknowledge();
        assertThat(closing.join(PATIENCE)).isTrue();
    }
}

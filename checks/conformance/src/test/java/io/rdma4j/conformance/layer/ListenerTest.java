package io.rdma4j.conformance.layer;

import static io.rdma4j.conformance.layer.LayerFixture.PATIENCE;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

import io.rdma4j.Access;
import io.rdma4j.Buffer;
import io.rdma4j.Connecting;
import io.rdma4j.Connection;
import io.rdma4j.ConnectionRequest;
import io.rdma4j.Exposed;
import io.rdma4j.Listener;
import io.rdma4j.cm.ConnectionRejectedException;
import io.rdma4j.conformance.device.Driver;
import io.rdma4j.conformance.device.NotOn;
import io.rdma4j.conformance.device.TestDevices;
import io.rdma4j.verbs.ClosedException;
import io.rdma4j.verbs.DisconnectedException;
import io.rdma4j.verbs.RdmaException;
import io.rdma4j.verbs.RdmaTimeoutException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Listeners of the upper layer. */
@Timeout(120)
class ListenerTest {
    private final ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor();

    @AfterEach
    void stop() {
        threads.shutdownNow();
    }

    private static Listener listen() {
        return Listener.bind(new InetSocketAddress(TestDevices.address(), 0));
    }

    @Test
    void closingEndsTheIterationAndTheWaits() throws Exception {
        Listener listener = listen();
        Future<Integer> iteration = threads.submit(() -> {
            int count = 0;
            for (ConnectionRequest request : listener) {
                request.reject();
                count++;
            }
            return count;
        });
        Future<?> wait = threads.submit(
                () -> assertThatExceptionOfType(ClosedException.class).isThrownBy(() -> listener.accept()));
        assertThatExceptionOfType(RdmaException.class)
                .isThrownBy(() -> Connection.to(listener.address()).connect(Duration.ofMillis(500)));
        listener.close();
        listener.close();
        assertThat(iteration.get()).isLessThanOrEqualTo(1);
        wait.cancel(true);
        assertThatExceptionOfType(ClosedException.class).isThrownBy(() -> listener.accept(PATIENCE));
    }

    @Test
    void acceptingTakesAtMostItsTime() {
        try (Listener listener = listen()) {
            assertThatExceptionOfType(RdmaTimeoutException.class)
                    .isThrownBy(() -> listener.accept(Duration.ofMillis(20)))
                    .withMessageContaining("no client has connected");
        }
    }

    @Test
    void aRequestIsAnsweredOnce() throws Exception {
        try (Listener listener = listen()) {
            Future<?> client = threads.submit(() -> assertThatExceptionOfType(RdmaException.class)
                    .isThrownBy(() -> Connection.to(listener.address()).connect()));
            ConnectionRequest request = listener.accept(PATIENCE);
            request.close();
            request.close();
            assertThatIllegalStateException().isThrownBy(() -> request.accept());
            client.get();
        }
    }

    @Test
    @NotOn(
            value = {Driver.RXE, Driver.SIW},
            because =
                    "is a kernel device: the kernel reports no event of a request that the program has not accepted yet")
    void acceptingAWithdrawnRequestSaysSo() {
        try (Listener listener = listen()) {
            for (int i = 0; i < 10; i++) {
                Connecting client = Connection.to(listener.address()).start();
                try (ConnectionRequest request = listener.accept(PATIENCE)) {
                    client.close();
                    assertThatExceptionOfType(RdmaException.class)
                            .isThrownBy(() -> request.timeout(PATIENCE).accept())
                            .isInstanceOfAny(ConnectionRejectedException.class, DisconnectedException.class);
                }
            }
        }
    }

    @Test
    void aRequestThatWasTakenOutlivesItsListener() throws Exception {
        Listener listener = listen();
        Future<Connection> client =
                threads.submit(() -> Connection.to(listener.address()).connect());
        ConnectionRequest request = listener.accept(PATIENCE);
        listener.close();
        try (Connection server = request.accept();
                Connection connected = client.get()) {
            assertThat(server.isOpen()).isTrue();
            assertThat(connected.isOpen()).isTrue();
        }
    }

    /** The clients reach the server at different addresses, which may belong to different devices. */
    @Test
    void oneMemoryServesAllClientsOfAWildcard() {
        MemorySegment memory = Arena.ofAuto().allocate(64, 8);
        InetAddress[] addresses = {TestDevices.address(), TestDevices.addressOfAnotherDevice()};
        try (Exposed table = Exposed.of(memory, Access.WRITE, Access.READ);
                Listener listener = Listener.bind(new InetSocketAddress(0))) {
            for (int i = 0; i < addresses.length; i++) {
                CompletableFuture<Connection> accepted = CompletableFuture.supplyAsync(
                        () -> listener.accept(PATIENCE).privateData(table).accept(), threads);
                try (Connection client = Connection.to(new InetSocketAddress(
                                        addresses[i], listener.address().getPort()))
                                .connect();
                        Connection _ = accepted.join();
                        Buffer buffer = client.allocate(8)) {
                    buffer.memory().set(ValueLayout.JAVA_LONG, 0, i + 1);
                    client.write(buffer, client.peer().memory().slice(i * 8L, 8));
                }
                assertThat(memory.getAtIndex(ValueLayout.JAVA_LONG, i)).isEqualTo(i + 1);
            }
        }
    }
}

package io.rdma4j.sockets.io;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.rdma4j.cm.CmId;
import io.rdma4j.cm.RoutePath;
import io.rdma4j.sockets.RdmaSelectorProvider;
import io.rdma4j.sockets.nio.RdmaSocketChannel;
import io.rdma4j.sockets.options.AddressRules;
import io.rdma4j.verbs.wait.Signal;
import io.rdma4j.wire.rsocket.ConnectData;
import java.net.BindException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.SocketException;
import java.time.Duration;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Attempts to connect that time out over RDMA, or fail. */
@Timeout(60)
class ConnectingEndpointTest {
    private final CompletableFuture<AcceptQueue.Request> request = new CompletableFuture<>();

    /** Creates a listener; the test accepts its requests. */
    private CmId listener() throws Exception {
        ThreadLocalRandom random = ThreadLocalRandom.current();
        CmId made = ConnectionService.ofProcess().createId(event -> {
            ConnectData peer = ConnectData.parse(event.privateData());
            if (peer != null) {
                request.complete(new AcceptQueue.Request(event.id(), peer, InetAddress.getLoopbackAddress()));
            }
        });
        made.bindAddress(new InetSocketAddress(
                InetAddress.getByAddress(
                        new byte[] {127, 31, (byte) random.nextInt(256), (byte) random.nextInt(1, 255)}),
                0));
        made.listen(5);
        return made;
    }

    @Test
    void connectionEstablishedAtTheTimeoutIsNotGivenUp() throws Exception {
        CmId listener = listener();
        StreamEndpoint server = new StreamEndpoint(ConnectionService.ofProcess(), StreamSettings.DEFAULT);
        RdmaSelectorProvider either = new RdmaSelectorProvider(AddressRules.parse("*=either"));
        try (RdmaSocketChannel client = (RdmaSocketChannel) either.openSocketChannel()) {
            client.configureBlocking(false);
            client.connect(Objects.requireNonNull(listener.localAddress()));
            StreamEndpoint attempt = Objects.requireNonNull(client.endpoint());
            AcceptQueue.Request asked = request.get(20, TimeUnit.SECONDS);
            server.acceptRequest(new AcceptQueue.Reply(asked, 0, 0), new StreamListener(server, 1, new Signal()));
            while (attempt.state() == StreamEndpoint.State.CONNECTING) {
                Thread.sleep(1);
            }
            attempt.giveUpConnecting(); // the timeout expires now, before the program has seen the connection
            assertThat(attempt.state()).isEqualTo(StreamEndpoint.State.CONNECTED);
            assertThat(client.finishConnect()).isTrue();
        } finally {
            server.close();
            listener.close();
        }
    }

    /** On the software device, the calling thread resolves the address and sends the request itself. */
    @Test
    void requestIsSentWhileTheServiceThreadIsBusy() throws Exception {
        CountDownLatch busy = new CountDownLatch(1);
        CompletableFuture<Void> end = new CompletableFuture<>();
        CmId listener = listener();
        CmId blocking = ConnectionService.ofProcess().createId(event -> {
            busy.countDown();
            end.join();
        });
        StreamEndpoint client = new StreamEndpoint(ConnectionService.ofProcess(), StreamSettings.DEFAULT);
        try {
            InetSocketAddress address = Objects.requireNonNull(listener.localAddress());
            blocking.resolveAddress(address, Duration.ofSeconds(2));
            assertThat(busy.await(20, TimeUnit.SECONDS)).isTrue();
            client.startConnect(address);
            assertThat(client.isRequested()).isTrue();
        } finally {
            end.complete(null);
            client.close();
            blocking.close();
            listener.close();
        }
    }

    @Test
    void attemptThatFailsImmediatelyIsReported() throws Exception {
        StreamEndpoint client = new StreamEndpoint(ConnectionService.ofProcess(), StreamSettings.DEFAULT);
        try {
            client.bind(new InetSocketAddress(InetAddress.ofLiteral("127.0.0.1"), 0));
            InetSocketAddress ofAnotherFamily = new InetSocketAddress(InetAddress.ofLiteral("::1"), 7);
            assertThatThrownBy(() -> client.startConnect(ofAnotherFamily)).isInstanceOf(SocketException.class);
            assertThatThrownBy(client::finishConnect).hasMessageContaining("different address families");
            assertThat(client.readiness() & Readiness.ERROR).isEqualTo(Readiness.ERROR);
        } finally {
            client.close();
        }
    }

    @Test
    void endpointThatCannotBeReboundForTheOtherFamilyHasNoAddress() throws Exception {
        StreamSettings ipv6Only = StreamSettings.DEFAULT.withIpv6Only(true);
        StreamEndpoint client = new StreamEndpoint(ConnectionService.ofProcess(), ipv6Only);
        StreamEndpoint other = new StreamEndpoint(ConnectionService.ofProcess(), ipv6Only);
        try {
            client.bind(SocketFamily.IPV4.any());
            int port = Objects.requireNonNull(client.localAddress()).getPort();
            other.bind(new InetSocketAddress(SocketFamily.IPV6.any().getAddress(), port));
            InetSocketAddress remote = new InetSocketAddress(InetAddress.ofLiteral("::1"), 7);
            assertThatThrownBy(() -> client.startConnect(remote)).isInstanceOf(BindException.class);
            assertThat(client.localAddress()).isNull();
            assertThatThrownBy(client::finishConnect).isInstanceOf(BindException.class);
        } finally {
            client.close();
            other.close();
        }
    }

    @Test
    @SuppressWarnings("NullAway") // simulates a bug
    void anyFailureFailsTheAttempt() throws Exception {
        CmId listener = listener();
        StreamEndpoint client = new StreamEndpoint(
                ConnectionService.ofProcess(), StreamSettings.DEFAULT.withRoute(new RoutePath(null, 0, 0, 1, 0)));
        try {
            client.startConnect(Objects.requireNonNull(listener.localAddress()));
            assertThatThrownBy(client::finishConnect)
                    .isInstanceOf(SocketException.class)
                    .hasCauseInstanceOf(NullPointerException.class);
        } finally {
            client.close();
            listener.close();
        }
    }

    @Test
    void errorForOneSocketDoesNotAffectOthers() throws Exception {
        CmId listener = listener();
        InetSocketAddress address = Objects.requireNonNull(listener.localAddress());
        CountDownLatch thrown = new CountDownLatch(1);
        CmId failing = ConnectionService.ofProcess().createId(event -> {
            thrown.countDown();
            throw new StackOverflowError("one of a test");
        });
        StreamEndpoint client = new StreamEndpoint(ConnectionService.ofProcess(), StreamSettings.DEFAULT);
        try {
            failing.resolveAddress(address, Duration.ofSeconds(5));
            assertThat(thrown.await(10, TimeUnit.SECONDS)).isTrue();
            client.startConnect(address);
            assertThat(request.get(10, TimeUnit.SECONDS)).isNotNull();
        } finally {
            failing.close();
            client.close();
            listener.close();
        }
    }
}

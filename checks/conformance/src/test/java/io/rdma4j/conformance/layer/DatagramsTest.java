package io.rdma4j.conformance.layer;

import static io.rdma4j.conformance.layer.LayerFixture.PATIENCE;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

import io.rdma4j.Buffer;
import io.rdma4j.Datagram;
import io.rdma4j.DatagramOptions;
import io.rdma4j.Datagrams;
import io.rdma4j.Destination;
import io.rdma4j.Membership;
import io.rdma4j.cm.ConnectionManager;
import io.rdma4j.cm.ConnectionRejectedException;
import io.rdma4j.conformance.device.Capability;
import io.rdma4j.conformance.device.TestDevices;
import io.rdma4j.verbs.ClosedException;
import io.rdma4j.verbs.RdmaException;
import io.rdma4j.verbs.RdmaTimeoutException;
import java.lang.foreign.ValueLayout;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Datagram sockets of the upper layer. */
@Timeout(120)
class DatagramsTest {
    private static final InetAddress GROUP = InetAddress.ofLiteral("239.44.1.2");

    @BeforeEach
    void require() {
        TestDevices.require(Capability.DATAGRAMS);
    }

    private static Datagrams bind(InetAddress address) {
        return bind(address, DatagramOptions.defaults());
    }

    private static Datagrams bind(InetAddress address, DatagramOptions options) {
        return Datagrams.bind(ConnectionManager.ofProcess(), new InetSocketAddress(address, 0), options);
    }

    private static Buffer number(Datagrams socket, long value) {
        Buffer buffer = socket.allocate(Long.BYTES);
        buffer.memory().set(ValueLayout.JAVA_LONG, 0, value);
        return buffer;
    }

    private static long value(Datagram datagram) {
        assertThat(datagram.lengthBytes()).isEqualTo(Long.BYTES);
        return datagram.memory().get(ValueLayout.JAVA_LONG, 0);
    }

    private static void assertReceives(Datagrams socket, long value) {
        try (Datagram datagram = socket.receive(PATIENCE)) {
            assertThat(value(datagram)).isEqualTo(value);
        }
    }

    private static void askAndAnswer(InetAddress address) {
        try (Datagrams server = bind(address);
                Datagrams client = Datagrams.toward(server.address())) {
            Destination service = client.resolve(server.address());
            Destination before = null;
            for (long i = 1; i <= 300; i++) { // more than there are places
                client.send(service, number(client, i));
                try (Datagram question = server.receive(PATIENCE)) {
                    assertThat(question.hasImmediate()).isFalse();
                    Destination sender = question.sender();
                    assertThat(before == null || before.equals(sender)).isTrue();
                    before = sender;
                    question.memory().set(ValueLayout.JAVA_LONG, 0, value(question) * 2);
                    server.sendWithImmediate(sender, question.buffer(), (int) i);
                }
                try (Datagram answer = client.receive(PATIENCE)) {
                    assertThat(value(answer)).isEqualTo(2 * i);
                    assertThat(answer.hasImmediate()).isTrue();
                    assertThat(answer.immediate()).isEqualTo((int) i);
                }
            }
        }
    }

    @Test
    void questionsAreAnsweredToTheirSender() {
        askAndAnswer(TestDevices.freshAddress());
    }

    @Test
    void questionsAreAnsweredOverIpv6() {
        askAndAnswer(TestDevices.ipv6Address());
    }

    @Test
    void membersReceiveWhatIsSentToTheirGroup() {
        TestDevices.require(Capability.MULTICAST);
        InetAddress address = TestDevices.freshAddress();
        try (Datagrams first = bind(address);
                Datagrams second = bind(address);
                Datagrams sender = bind(address);
                Membership ofFirst = first.join(GROUP);
                Membership toSend = sender.joinToSend(GROUP)) {
            Membership ofSecond = second.join(GROUP);
            assertThat(ofFirst.group()).isEqualTo(ofSecond.group());
            sender.send(toSend.group(), number(sender, 5));
            assertReceives(second, 5);
            try (Datagram datagram = first.receive(PATIENCE)) {
                assertThat(value(datagram)).isEqualTo(5);
                first.send(datagram.sender(), number(first, 6)); // to the sender alone
            }
            assertReceives(sender, 6);
            ofSecond.close();
            ofSecond.close();
            sender.send(toSend.group(), number(sender, 7));
            assertReceives(first, 7);
            assertThatExceptionOfType(RdmaTimeoutException.class)
                    .isThrownBy(() -> second.receive(Duration.ofMillis(50)));
        }
    }

    @Test
    void nobodyListensAtAnUnknownPort() {
        InetAddress address = TestDevices.freshAddress();
        try (Datagrams client = bind(address)) {
            assertThatExceptionOfType(ConnectionRejectedException.class)
                    .isThrownBy(() -> client.resolve(new InetSocketAddress(address, 4243)));
        }
    }

    @Test
    void datagramsHaveAMaximumLength() {
        try (Datagrams socket = bind(TestDevices.freshAddress());
                Buffer buffer = socket.allocate(socket.maxSendBytes() + 1L)) {
            Destination self = socket.resolve(socket.address());
            assertThatIllegalArgumentException().isThrownBy(() -> socket.send(self, buffer));
            socket.send(self, buffer.slice(0, socket.maxSendBytes()));
            try (Datagram datagram = socket.receive(PATIENCE)) {
                assertThat(datagram.lengthBytes()).isEqualTo(socket.maxSendBytes());
            }
            socket.send(self, buffer.slice(0, 0));
            try (Datagram datagram = socket.receive(PATIENCE)) {
                assertThat(datagram.lengthBytes()).isZero();
            }
        }
    }

    @Test
    void whatFindsNoPlaceIsLost() {
        DatagramOptions two = DatagramOptions.defaults().withReceives(2, Long.BYTES);
        try (Datagrams socket = bind(TestDevices.freshAddress(), two)) {
            Destination self = socket.resolve(socket.address());
            for (int i = 0; i < 8; i++) {
                socket.send(self, number(socket, i));
            }
            try (Datagram first = socket.receive(PATIENCE);
                    Datagram second = socket.receive(PATIENCE)) {
                assertThat(value(first)).isZero();
                assertThat(value(second)).isEqualTo(1);
                assertThatExceptionOfType(RdmaTimeoutException.class)
                        .isThrownBy(() -> socket.receive(Duration.ofMillis(50)));
            }
            socket.send(self, number(socket, 9));
            assertReceives(socket, 9);
        }
    }

    @Test
    void destinationsAreNotLimited() {
        try (Datagrams socket = bind(TestDevices.freshAddress());
                Buffer buffer = number(socket, 3)) {
            Destination self = socket.resolve(socket.address());
            for (int label = 0; label < 2500; label++) {
                Destination other =
                        new Destination(self.path().withFlowLabel(label), self.queuePairNumber(), self.queueKey());
                socket.send(other, buffer);
                assertReceives(socket, 3);
            }
        }
    }

    @Test
    void anInterruptDoesNotEndTheSocket() {
        try (Datagrams socket = bind(TestDevices.freshAddress());
                Buffer buffer = number(socket, 3)) {
            Destination self = socket.resolve(socket.address());
            for (int i = 0; i < 100; i++) {
                Thread.currentThread().interrupt();
                socket.send(self, buffer);
                assertThat(Thread.interrupted()).isTrue();
                assertReceives(socket, 3);
            }
        }
    }

    @Test
    void closingEndsCallsOfOtherThreads() throws Exception {
        Datagrams socket = bind(TestDevices.freshAddress());
        CompletableFuture<Datagram> received = new CompletableFuture<>();
        Thread receiver = Thread.ofVirtual().start(() -> {
            try {
                received.complete(socket.receive());
            } catch (RdmaException end) {
                received.completeExceptionally(end);
            }
        });
        Destination self = socket.resolve(socket.address());
        socket.close();
        socket.close();
        assertThatExceptionOfType(ExecutionException.class)
                .isThrownBy(() -> received.get(PATIENCE.toMillis(), TimeUnit.MILLISECONDS))
                .withCauseInstanceOf(ClosedException.class);
        receiver.join();
        assertThatExceptionOfType(ClosedException.class).isThrownBy(() -> socket.resolve(socket.address()));
        assertThatExceptionOfType(ClosedException.class).isThrownBy(() -> socket.join(GROUP));
        assertThatExceptionOfType(ClosedException.class).isThrownBy(() -> socket.allocate(8));
        assertThat(self.queuePairNumber()).isPositive();
    }

    @Test
    void aSocketCanBeClosedWhilePeersResolveIt() throws Exception {
        InetAddress address = TestDevices.freshAddress();
        for (int i = 0; i < 30; i++) {
            try (Datagrams client = bind(address)) {
                CompletableFuture<Void> resolved;
                try (Datagrams server = bind(address)) {
                    InetSocketAddress target = server.address();
                    resolved = CompletableFuture.runAsync(() -> client.resolve(target, PATIENCE));
                }
                resolved.handle((_, _) -> true).get(PATIENCE.toMillis(), TimeUnit.MILLISECONDS); // resolved or refused
            }
        }
    }

    @Test
    void aClosedDatagramCannotBeUsed() {
        try (Datagrams socket = bind(TestDevices.freshAddress())) {
            Destination self = socket.resolve(socket.address());
            socket.send(self, number(socket, 1));
            Datagram datagram = socket.receive(PATIENCE);
            datagram.close();
            assertThatIllegalStateException().isThrownBy(datagram::sender);
            assertThatIllegalStateException().isThrownBy(datagram::memory);
            assertThat(datagram).hasToString("closed datagram");
        }
    }

    @Test
    void aWildcardIsRefusedWithAdvice() {
        assertThatIllegalArgumentException()
                .isThrownBy(() -> Datagrams.bind(new InetSocketAddress(0)))
                .withMessageContaining("Datagrams.toward(peer)");
    }
}

package io.rdma4j.testkit.junit;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import io.rdma4j.Buffer;
import io.rdma4j.Connection;
import io.rdma4j.Datagram;
import io.rdma4j.DatagramOptions;
import io.rdma4j.Datagrams;
import io.rdma4j.Message;
import io.rdma4j.cm.ConnectionManager;
import io.rdma4j.soft.SoftStack;
import io.rdma4j.testkit.ConnectedEnd;
import io.rdma4j.testkit.ConnectedPair;
import io.rdma4j.testkit.TestHost;
import io.rdma4j.testkit.TestNetwork;
import io.rdma4j.testkit.VirtualTime;
import io.rdma4j.value.CompletionStatus;
import io.rdma4j.verbs.Device;
import io.rdma4j.verbs.DisconnectedException;
import io.rdma4j.verbs.RdmaTimeoutException;
import io.rdma4j.verbs.WorkRequestException;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.foreign.ValueLayout;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.HashSet;
import java.util.Set;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.RepeatedTest;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Tests that use the extension like the tests of a program, and pass. */
@RdmaFabric(hosts = {"client", "server", "third"})
class RdmaFabricTest {
    private final TestNetwork ofConstructor;
    private final Set<TestNetwork> ofLifecycle = new HashSet<>();

    RdmaFabricTest(TestNetwork network) {
        ofConstructor = network;
    }

    @BeforeEach
    void takeNetwork(TestNetwork network) {
        ofLifecycle.add(network);
    }

    @AfterEach
    void itWasTheSameNetwork(TestNetwork network) {
        ofLifecycle.add(network);
        assertThat(ofLifecycle).containsExactly(ofConstructor);
    }

    /** Writes a text to the memory of the server. */
    static String write(ConnectedPair pair, String text) {
        pair.client().memory().setString(0, text);
        pair.client().connection().write(pair.client().buffer(), pair.server().remote());
        return pair.server().memory().getString(0);
    }

    @Test
    void hostsFollowTheOrderOfTheirTypesAndNames(
            TestHost first,
            @Host("third") TestHost named,
            TestHost second,
            Device device,
            @Host("server") SoftStack stack,
            ConnectionManager manager) {
        assertThat(first.name()).isEqualTo("client");
        assertThat(named.name()).isEqualTo("third");
        assertThat(second.name()).isEqualTo("server");
        assertThat(second.address()).isEqualTo(InetAddress.ofLiteral("10.0.0.2"));
        assertThat(device).isEqualTo(first.device());
        assertThat(stack).isSameAs(second.stack());
        assertThat(manager).isSameAs(first.connectionManager());
    }

    @Test
    void aPairIsConnected(
            ConnectedPair pair, @Connect(from = "third", to = "third", memoryBytes = 10) ConnectedPair own) {
        assertThat(write(pair, "hello")).isEqualTo("hello");
        assertThat(pair.client().host().name()).isEqualTo("client");
        assertThat(pair.server().host().name()).isEqualTo("server");
        assertThat(own.server().host().name()).isEqualTo("third");
        assertThat(own.client().memory().byteSize()).isEqualTo(10);
        assertThat(write(own, "itself")).isEqualTo("itself");
    }

    @Test
    void aTestMayDisconnectItsPairAndCloseIt(ConnectedPair pair) {
        pair.client().connection().close();
        pair.server().connection().awaitEnd(Duration.ofMinutes(1));
        assertThat(pair.server().connection().isOpen()).isFalse();
        pair.close();
    }

    @RepeatedTest(3)
    void repeatedTestsHaveANetworkEach(TestNetwork network, ConnectedPair pair) {
        assertThat(network.hosts()).hasSize(3);
        assertThat(write(pair, "again")).isEqualTo("again");
    }

    @ParameterizedTest
    @ValueSource(strings = {"one", "two"})
    void parameterizedTestsTakeTheirArgumentsFirst(String text, ConnectedPair pair) {
        assertThat(write(pair, text)).isEqualTo(text);
    }

    @Test
    @RdmaFabric(hostCount = 1, ipv6 = true, mtuBytes = 1500, seed = 99)
    void theAnnotationOfAMethodReplacesTheClassAnnotation(TestNetwork network, TestHost host, ConnectedPair toItself) {
        assertThat(network.hosts()).containsExactly(host);
        assertThat(host.name()).isEqualTo("host1");
        assertThat(host.address()).isEqualTo(InetAddress.ofLiteral("fd00::1"));
        assertThat(network.seed()).isEqualTo(99);
        assertThat(write(toItself, "six")).isEqualTo("six");
    }

    @Nested
    class InNestedClasses {
        @Test
        void theAnnotationOfTheEnclosingClassApplies(TestNetwork network) {
            assertThat(network).isSameAs(ofConstructor);
            assertThat(network.hosts()).hasSize(3);
        }
    }

    /** An annotation that has the annotation. */
    @Retention(RetentionPolicy.RUNTIME)
    @RdmaFabric(hostCount = 4, linkSpeed = "1Gbit", delay = "100us", time = FabricTime.VIRTUAL)
    @interface SlowNetwork {}

    @SlowNetwork
    abstract static class OfBaseClass {
        /** At a gigabit per second and 0.1 ms each way, 64 KiB take more than 0.5 ms. */
        @Test
        void theAnnotationOfTheBaseClassApplies(TestNetwork network, ConnectedPair pair, VirtualTime time) {
            assertThat(network.hosts()).hasSize(4);
            long before = time.elapsedNanos();
            assertThat(write(pair, "slow")).isEqualTo("slow");
            assertThat(Duration.ofNanos(time.elapsedNanos() - before))
                    .isBetween(Duration.ofNanos(700_000), Duration.ofMillis(5));
        }
    }

    @Nested
    class WithABaseClass extends OfBaseClass {}

    @Nested
    @RdmaFabric(loss = "5%", duplication = "2%", reordering = "2%", corruption = "1%", seed = 7)
    class WithFaults {
        @Test
        void allBytesArrive(@Connect(memoryBytes = 1 << 20) ConnectedPair pair, TestNetwork network) {
            ConnectedEnd client = pair.client();
            client.memory().fill((byte) 42);
            client.connection().write(client.buffer(), pair.server().remote());
            assertThat(pair.server().memory().mismatch(client.memory())).isEqualTo(-1);
            assertThat(network.lastPackets(Integer.MAX_VALUE)).anyMatch(line -> line.contains(" lost "));
        }
    }

    @Nested
    @RdmaFabric(time = FabricTime.VIRTUAL, seed = 5)
    class InVirtualTime {
        @Test
        void aSilentPeerIsGivenUpInVirtualTime(ConnectedPair pair, TestNetwork network, VirtualTime time) {
            network.conditions("loss=100%");
            WorkRequestException failed =
                    catchThrowableOfType(WorkRequestException.class, () -> write(pair, "nobody reads this"));
            assertThat(failed.status()).isEqualTo(CompletionStatus.RETRY_EXCEEDED_ERROR);
            assertThat(time.elapsed()).isGreaterThan(Duration.ofMillis(100));
        }

        @Test
        void messagesAreSentAndReceivedByOneThread(ConnectedPair pair) {
            Connection client = pair.client().connection();
            Connection server = pair.server().connection();
            for (int i = 0; i < 200; i++) { // more messages than the queues hold
                pair.client().memory().set(ValueLayout.JAVA_INT, 0, i);
                client.send(pair.client().buffer().slice(0, Integer.BYTES));
                try (Message message = server.receive()) {
                    assertThat(message.memory().get(ValueLayout.JAVA_INT, 0)).isEqualTo(i);
                    server.send(message.buffer());
                }
                client.receive().close();
            }
        }

        @Test
        void theEndReachesThePeerInVirtualTime(ConnectedPair pair, VirtualTime time) {
            long before = time.elapsedNanos();
            pair.client().connection().close();
            assertThat(Duration.ofNanos(time.elapsedNanos() - before)).isLessThan(Duration.ofMillis(50));
            assertThatExceptionOfType(DisconnectedException.class)
                    .isThrownBy(() -> pair.server().connection().receive());
        }

        @Test
        void datagramsArriveInVirtualTime(TestHost from, TestHost to) {
            InetSocketAddress anyPort = new InetSocketAddress(to.address(), 0);
            try (Datagrams server = Datagrams.bind(to.connectionManager(), anyPort, DatagramOptions.defaults());
                    Datagrams client =
                            Datagrams.toward(from.connectionManager(), server.address(), DatagramOptions.defaults());
                    Buffer question = client.allocate(8)) {
                client.send(client.resolve(server.address()), question);
                try (Datagram received = server.receive()) {
                    server.send(received.sender(), received.buffer());
                }
                client.receive().close();
            }
        }

        @Test
        void aWaitEndsAtItsTimeout(ConnectedPair pair, VirtualTime time) {
            long before = time.elapsedNanos();
            assertThatExceptionOfType(RdmaTimeoutException.class)
                    .isThrownBy(() -> pair.client().connection().receive(Duration.ofHours(1)));
            assertThat(Duration.ofNanos(time.elapsedNanos() - before))
                    .isBetween(Duration.ofHours(1), Duration.ofHours(1).plusSeconds(1));
        }
    }
}

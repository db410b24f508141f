package io.rdma4j.testkit.junit;

import static org.assertj.core.api.Assertions.assertThat;

import io.rdma4j.cm.CmEvent;
import io.rdma4j.cm.ConnectionManager;
import io.rdma4j.soft.SoftStack;
import io.rdma4j.testkit.ConnectedEnd;
import io.rdma4j.testkit.ConnectedPair;
import io.rdma4j.testkit.TestHost;
import io.rdma4j.testkit.TestNetwork;
import io.rdma4j.testkit.VirtualTime;
import io.rdma4j.verbs.CompletionStatus;
import io.rdma4j.verbs.Device;
import io.rdma4j.verbs.SendWorkRequest;
import io.rdma4j.verbs.WorkCompletion;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.net.InetAddress;
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

/** Tests that use the extension as programs do, and pass. */
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
        pair.client().verbs().write(pair.client().region(), pair.server().remote());
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
        pair.client().id().disconnect();
        try (CmEvent event = pair.server().events().await()) {
            assertThat(event.type()).isEqualTo(CmEvent.Type.DISCONNECTED);
        }
        pair.server().id().disconnect();
        try (CmEvent event = pair.client().events().await()) {
            assertThat(event.type()).isEqualTo(CmEvent.Type.DISCONNECTED);
        }
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
    void theAnnotationOfAMethodReplacesThatOfTheClass(TestNetwork network, TestHost host, ConnectedPair toItself) {
        assertThat(network.hosts()).containsExactly(host);
        assertThat(host.name()).isEqualTo("host1");
        assertThat(host.address()).isEqualTo(InetAddress.ofLiteral("fd00::1"));
        assertThat(network.seed()).isEqualTo(99);
        assertThat(write(toItself, "six")).isEqualTo("six");
    }

    @Nested
    class InNestedClasses {
        @Test
        void theNetworkIsThatOfTheClassAround(TestNetwork network) {
            assertThat(network).isSameAs(ofConstructor);
            assertThat(network.hosts()).hasSize(3);
        }
    }

    /** An annotation with another one. */
    @Retention(RetentionPolicy.RUNTIME)
    @RdmaFabric(hostCount = 4, linkSpeed = "1Gbit", delay = "100us", time = FabricTime.VIRTUAL)
    @interface SlowNetwork {}

    @SlowNetwork
    abstract static class OfBaseClass {
        /** At a gigabit per second and 0.1 ms each way, 64 KiB take 0.5 ms and more. */
        @Test
        void theNetworkIsThatOfTheBaseClass(TestNetwork network, ConnectedPair pair, VirtualTime time) {
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
            client.verbs().write(client.region(), pair.server().remote());
            assertThat(pair.server().memory().mismatch(client.memory())).isEqualTo(-1);
            assertThat(network.recording().lastLines(Integer.MAX_VALUE)).anyMatch(line -> line.contains(" lost "));
        }
    }

    @Nested
    @RdmaFabric(time = FabricTime.VIRTUAL, seed = 5)
    class InVirtualTime {
        @Test
        void aPeerThatIsSilentIsGivenUpInNoRealTime(ConnectedPair pair, TestNetwork network, VirtualTime time) {
            network.conditions("loss=100%");
            pair.client()
                    .queuePair()
                    .postSend(SendWorkRequest.write(
                                    1, pair.client().region(), pair.server().remote())
                            .signaled());
            WorkCompletion completion = new WorkCompletion();
            pair.client().verbs().awaitSendCompletion(completion);
            assertThat(completion.status()).isEqualTo(CompletionStatus.RETRY_EXCEEDED_ERROR);
            assertThat(time.elapsed()).isGreaterThan(Duration.ofMillis(100));
        }

        @Test
        void aWaitWithATimeoutEndsAtIt(ConnectedPair pair, VirtualTime time) {
            long before = time.elapsedNanos();
            assertThat(pair.client().verbs().awaitReceiveCompletion(new WorkCompletion(), Duration.ofHours(1)))
                    .isFalse();
            assertThat(Duration.ofNanos(time.elapsedNanos() - before))
                    .isBetween(Duration.ofHours(1), Duration.ofHours(1).plusSeconds(1));
        }
    }
}

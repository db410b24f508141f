package io.rdma4j.cm;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowable;

import io.rdma4j.cm.spi.CmEventSink;
import io.rdma4j.cm.spi.CmProvider;
import io.rdma4j.cm.spi.ProviderCmId;
import io.rdma4j.value.PortSpace;
import io.rdma4j.value.QueuePairType;
import io.rdma4j.verbs.Device;
import io.rdma4j.verbs.ProtectionDomain;
import io.rdma4j.verbs.QueuePairCapabilities;
import io.rdma4j.verbs.QueuePairInitAttributes;
import io.rdma4j.verbs.RdmaException;
import io.rdma4j.verbs.SharedReceiveQueueInitAttributes;
import io.rdma4j.verbs.wait.WaitDriver;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Tests that a failed creation leaves no objects open, for a failure of every call with different exceptions. */
class FailedCreationTest {
    private static final InetAddress LOOPBACK = InetAddress.getLoopbackAddress();

    /** The kind of failure of a call. */
    enum Kind {
        /** The device refuses. */
        REFUSAL,
        /** The heap is full. */
        NO_MEMORY;

        Supplier<Throwable> failure() {
            return () -> this == REFUSAL ? FailingVerbs.refusal() : new OutOfMemoryError("the heap that is to be full");
        }

        Class<? extends Throwable> type() {
            return this == REFUSAL ? RdmaException.class : OutOfMemoryError.class;
        }
    }

    /** Creates an object with a device. */
    interface Creation {
        void run(FailingVerbs verbs);
    }

    /**
     * Makes every call of a creation fail, one call in each round.
     *
     * @param kept the objects that a failed creation must leave open
     */
    private static void everyFailureLeaves(List<String> kept, Kind kind, Creation creation) {
        int call = 1;
        while (true) {
            FailingVerbs verbs = new FailingVerbs(call, kind.failure());
            Throwable thrown = catchThrowable(() -> creation.run(verbs));
            if (!verbs.hasFailed()) {
                assertThat(thrown).isNull();
                assertThat(call).as("calls that could fail").isGreaterThan(2);
                return;
            }
            assertThat(thrown).as("call " + call).isInstanceOf(kind.type());
            assertThat(verbs.open).as("left by a failure of call " + call).isEqualTo(kept);
            call++;
        }
    }

    private static CmId identifier(QueuePairType type) {
        return new CmId(new EventChannel(ConnectionManager.ofProcess()), true, PortSpace.IB, type, null);
    }

    @ParameterizedTest
    @EnumSource
    void queuePairOfAConnection(Kind kind) {
        queuePair(kind, QueuePairType.RELIABLE_CONNECTION);
    }

    @ParameterizedTest
    @EnumSource
    void queuePairOfDatagrams(Kind kind) {
        queuePair(kind, QueuePairType.UNRELIABLE_DATAGRAM);
    }

    private static void queuePair(Kind kind, QueuePairType type) {
        QueuePairInitAttributes attributes = QueuePairInitAttributes.of(new QueuePairCapabilities(1, 1, 1, 1, 0));
        everyFailureLeaves(List.of("ProtectionDomain"), kind, verbs -> {
            ProtectionDomain domain = verbs.domain();
            IdQueues.Connected.create(identifier(type), new FakeProviderId(), domain, attributes);
        });
    }

    @ParameterizedTest
    @EnumSource
    void sharedReceiveQueueOfExtendedConnections(Kind kind) {
        everyFailureLeaves(List.of(), kind, verbs -> {
            OpenDevices.Use use = new OpenDevices().use(verbs);
            try {
                IdQueues.SharedReceives.create(
                        identifier(QueuePairType.XRC_RECEIVE), use, null, SharedReceiveQueueInitAttributes.of(1, 1));
            } finally {
                use.release();
                verbs.open.remove("DeviceContext"); // stays open as long as the device exists
            }
        });
    }

    // ---- identifiers of the providers

    /** A provider with identifiers that record when they are closed. */
    private static final class Provider implements CmProvider {
        private final FailingVerbs verbs;

        Provider(FailingVerbs verbs) {
            this.verbs = verbs;
        }

        @Override
        public String name() {
            return "failing";
        }

        @Override
        public int preference() {
            return 0;
        }

        @Override
        public boolean hasDevices() {
            return true;
        }

        @Override
        public List<Device> devices() {
            return List.of();
        }

        @Override
        public InetAddress sourceFor(String operation, @Nullable InetAddress source, InetAddress destination) {
            return destination;
        }

        @Override
        public boolean serves(InetAddress local) {
            return true;
        }

        @Override
        public @Nullable WaitDriver waitDriver() {
            return null;
        }

        @Override
        public ProviderCmId create(PortSpace portSpace, QueuePairType queuePairType, CmEventSink sink) {
            step();
            FakeProviderId fake = new FakeProviderId();
            verbs.open.add("identifier");
            return (ProviderCmId) Proxy.newProxyInstance(
                    ProviderCmId.class.getClassLoader(), new Class<?>[] {ProviderCmId.class}, (self, method, words) -> {
                        if (method.getName().equals("close")) {
                            verbs.open.remove("identifier");
                        } else if (method.getName().equals("bind")
                                || method.getName().startsWith("set")) {
                            verbs.step();
                        }
                        try {
                            return method.invoke(fake, words);
                        } catch (InvocationTargetException e) {
                            throw e.getCause();
                        }
                    });
        }

        private void step() {
            try {
                verbs.step();
            } catch (RuntimeException | Error failure) {
                throw failure;
            } catch (Throwable other) {
                throw new AssertionError(other);
            }
        }
    }

    private static final CmEventSink DEAF = new CmEventSink() {
        @Override
        public void onEvent(CmEvent event) {}

        @Override
        public CmEventSink onConnectRequest(ProviderCmId child, CmEvent.ConnectRequest event) {
            return this;
        }
    };

    private static ProviderBinding binding() {
        ProviderBinding binding =
                new ProviderBinding(CmProviders.ofProcess(), PortSpace.TCP, QueuePairType.RELIABLE_CONNECTION, DEAF);
        binding.option(id -> id.setTypeOfService(1));
        binding.option(id -> id.setReuseAddress(true));
        return binding;
    }

    @ParameterizedTest
    @EnumSource
    void bindingToTheAddressesOfTwoProviders(Kind kind) {
        everyFailureLeaves(
                List.of(),
                kind,
                verbs -> binding()
                        .bindAll(
                                List.of(new Provider(verbs), new Provider(verbs)), new InetSocketAddress(LOOPBACK, 0)));
    }

    @ParameterizedTest
    @EnumSource
    void identifierOfTheProviderOfAnAddress(Kind kind) {
        everyFailureLeaves(List.of(), kind, verbs -> {
            ProviderBinding binding = binding();
            binding.keepOnly(new Provider(verbs));
            assertThat(binding.first()).isNotNull();
        });
    }

    @Test
    void bindingThatCannotChangeItsProviderKeepsItsIdentifier() {
        FailingVerbs first = new FailingVerbs(0, FailingVerbs::refusal);
        FailingVerbs second = new FailingVerbs(2, FailingVerbs::refusal);
        ProviderBinding binding = binding();
        binding.bindAll(List.of(new Provider(first)), new InetSocketAddress(LOOPBACK, 0));
        @Nullable ProviderCmId before = binding.first();
        Throwable thrown = catchThrowable(() -> binding.keepOnly(new Provider(second)));
        assertThat(thrown).isInstanceOf(RdmaException.class);
        assertThat(second.open).isEmpty();
        assertThat(first.open).containsExactly("identifier");
        assertThat(binding.first()).isSameAs(before);
        binding.close();
        assertThat(new ArrayList<>(first.open)).isEmpty();
    }
}

package io.rdma4j.sockets.io;

import io.rdma4j.cm.CmEvent;
import io.rdma4j.cm.spi.CmEventSink;
import io.rdma4j.cm.spi.CmProvider;
import io.rdma4j.cm.spi.ProviderCmId;
import io.rdma4j.value.Gid;
import io.rdma4j.value.PathMtu;
import io.rdma4j.value.PortSpace;
import io.rdma4j.value.QueuePairType;
import io.rdma4j.verbs.Device;
import io.rdma4j.verbs.DeviceAttributes;
import io.rdma4j.verbs.DeviceContext;
import io.rdma4j.verbs.Errno;
import io.rdma4j.verbs.PortAttributes;
import io.rdma4j.verbs.PortState;
import io.rdma4j.verbs.ProtectionDomain;
import io.rdma4j.verbs.QueuePairAttributes;
import io.rdma4j.verbs.RdmaException;
import io.rdma4j.verbs.spi.ParkingDriver;
import io.rdma4j.verbs.spi.VerbsProvider;
import io.rdma4j.verbs.wait.Signal;
import io.rdma4j.verbs.wait.WaitDriver;
import java.lang.foreign.MemorySegment;
import java.lang.reflect.InvocationHandler;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * A provider with one device. One call of it fails. The provider records the objects that were created and not closed.
 * Not thread safe.
 */
public final class FailingProvider implements CmProvider, VerbsProvider {
    static final InetAddress ADDRESS = InetAddress.ofLiteral("127.9.9.9");

    /** The objects that were created and not closed, in the order of their creation. */
    static final List<String> OPEN = new ArrayList<>();

    private static final int MANY = 1 << 20;
    private static final Signal SIGNAL = new Signal();
    private static final WaitDriver PARKING = new ParkingDriver(System::nanoTime);
    private static final Device DEVICE = new FailingDevice();

    private static int left;
    private static String failingClose = "";
    private static int closesLeft;
    private static Consumer<String> closing = name -> {};
    private static boolean memory;
    private static boolean failed;
    private static volatile @Nullable CmEventSink newest;

    /** Called by the service loader. */
    public FailingProvider() {}

    /**
     * Lets a call fail.
     *
     * @param call the number of the call, counted from 1 after this call
     * @param noMemory true to fail as with a full heap, false to fail as with a device that refuses
     */
    static void fail(int call, boolean noMemory) {
        left = call;
        memory = noMemory;
        failed = false;
    }

    /**
     * Lets a close fail; the object stays open.
     *
     * @param name the name of the objects in {@link #OPEN}
     * @param close the number of the close, counted from 1 after this call
     */
    static void failClose(String name, int close) {
        failingClose = name;
        closesLeft = close;
    }

    /** Calls {@code action} with the name of each object that is being closed. */
    static void onClose(Consumer<String> action) {
        closing = action;
    }

    private static void close(String name) {
        closing.accept(name);
        if (name.equals(failingClose) && --closesLeft == 0) {
            throw new RdmaException("a close", Errno.EIO, "the one that is to fail", "");
        }
        OPEN.remove(name);
    }

    /** Reports an event of the identifier that was created last. Its calls report no events by themselves. */
    static void report(CmEvent.Type type) {
        Objects.requireNonNull(newest).onEvent(new CmEvent.Notice(type));
    }

    /** Returns whether the call that must fail was made. */
    static boolean hasFailed() {
        return failed;
    }

    private static void step() {
        if (--left == 0) {
            failed = true;
            if (memory) {
                throw new OutOfMemoryError("the heap that is to be full");
            }
            throw new RdmaException("a call", Errno.EIO, "the one that is to fail", "");
        }
    }

    private static final class FailingDevice implements Device {
        @Override
        public String name() {
            return "failing0";
        }

        @Override
        public long guid() {
            return 1;
        }

        @Override
        public DeviceContext open() {
            step();
            return made(DeviceContext.class, MemorySegment.NULL);
        }
    }

    // ---- the verbs

    /** @param bytes of a memory region; otherwise none */
    private static <T> T made(Class<T> type, MemorySegment bytes) {
        String name = type.getSimpleName();
        OPEN.add(name);
        InvocationHandler calls = new InvocationHandler() {
            private boolean closed;

            @Override
            public @Nullable Object invoke(Object self, Method method, Object @Nullable [] arguments) {
                String call = method.getName();
                if (call.equals("close")) {
                    if (!closed) {
                        close(name);
                        closed = true;
                    }
                    return null;
                }
                if (call.equals("register")) {
                    step();
                    return made(method.getReturnType(), segment(arguments));
                }
                if (call.startsWith("create")) {
                    step();
                    return made(method.getReturnType(), MemorySegment.NULL);
                }
                if (call.equals("modify") || call.equals("postReceive") || call.equals("postSend")) {
                    step();
                    return null;
                }
                if (call.equals("poll")) {
                    step();
                    return method.getReturnType().equals(int.class) ? 0 : null;
                }
                return answer(self, method, arguments);
            }

            private @Nullable Object answer(Object self, Method method, Object @Nullable [] arguments) {
                return switch (method.getName()) {
                    case "attributes" -> attributes();
                    case "sharedReceiveQueue" -> null;
                    case "port" ->
                        PortAttributes.builder()
                                .state(PortState.ACTIVE)
                                .activeMtu(PathMtu.MTU_1024)
                                .gidTableLength(1)
                                .maxMessageBytes(MANY)
                                .networkInterface("failing")
                                .build();
                    case "gids" -> List.of(Gid.of(ADDRESS));
                    case "device" -> DEVICE;
                    case "signal" -> SIGNAL;
                    case "waitDriver" -> PARKING;
                    case "context" ->
                        Proxy.newProxyInstance(
                                DeviceContext.class.getClassLoader(), new Class<?>[] {DeviceContext.class}, this);
                    case "protectionDomain" ->
                        Proxy.newProxyInstance(
                                ProtectionDomain.class.getClassLoader(), new Class<?>[] {ProtectionDomain.class}, this);
                    case "memory" -> bytes;
                    case "lengthBytes" -> bytes.byteSize();
                    case "address" -> bytes.address();
                    case "toString" -> name;
                    case "hashCode" -> System.identityHashCode(self);
                    case "equals" -> arguments != null && System.identityHashCode(arguments[0]) == self.hashCode();
                    default -> number(method);
                };
            }

            private @Nullable Object number(Method method) {
                Class<?> result = method.getReturnType();
                if (result.equals(int.class)) {
                    return 1;
                }
                if (result.equals(void.class)) {
                    return null;
                }
                throw new UnsupportedOperationException(name + "." + method.getName());
            }
        };
        return type.cast(Proxy.newProxyInstance(type.getClassLoader(), new Class<?>[] {type}, calls));
    }

    private static MemorySegment segment(Object @Nullable [] arguments) {
        return arguments == null ? MemorySegment.NULL : (MemorySegment) arguments[0];
    }

    private static DeviceAttributes attributes() {
        return DeviceAttributes.builder()
                .firmwareVersion("failing")
                .nodeGuid(1)
                .systemImageGuid(1)
                .maxMemoryRegionBytes(MANY)
                .maxQueuePairs(MANY)
                .maxQueuePairWorkRequests(MANY)
                .maxScatterGather(16)
                .maxCompletionQueues(MANY)
                .maxCompletionQueueEntries(MANY)
                .maxMemoryRegions(MANY)
                .maxMemoryWindows(MANY)
                .maxProtectionDomains(MANY)
                .maxSharedReceiveQueues(MANY)
                .maxSharedReceiveQueueWorkRequests(MANY)
                .maxSharedReceiveQueueScatterGather(16)
                .maxReadAtomicPerQueuePair(16)
                .maxInitiatedReadAtomicPerQueuePair(16)
                .maxInlineBytes(64)
                .localAckDelay(15)
                .ports(1)
                .build();
    }

    @Override
    public List<Device> devices() {
        return List.of(DEVICE);
    }

    @Override
    public Optional<Device> deviceOf(InetAddress address) {
        return address.equals(ADDRESS) ? Optional.of(DEVICE) : Optional.empty();
    }

    // ---- the connection manager

    @Override
    public String refusal(InetAddress address) {
        return "";
    }

    @Override
    public String name() {
        return "failing";
    }

    @Override
    public int preference() {
        return 100;
    }

    @Override
    public boolean hasDevices() {
        return true;
    }

    @Override
    public InetAddress sourceFor(String operation, @Nullable InetAddress source, InetAddress destination) {
        return ADDRESS;
    }

    @Override
    public boolean serves(InetAddress local) {
        return local.equals(ADDRESS);
    }

    @Override
    public @Nullable WaitDriver waitDriver() {
        return null;
    }

    @Override
    public ProviderCmId create(PortSpace portSpace, QueuePairType queuePairType, CmEventSink sink) {
        step();
        OPEN.add("identifier");
        newest = sink;
        return (ProviderCmId) Proxy.newProxyInstance(
                ProviderCmId.class.getClassLoader(), new Class<?>[] {ProviderCmId.class}, (self, method, words) -> {
                    switch (method.getName()) {
                        case "close" -> close("identifier");
                        case "bind", "setReuseAddress" -> step();
                        default -> {}
                    }
                    return switch (method.getName()) {
                        case "device" -> DEVICE;
                        case "signal" -> SIGNAL;
                        case "waitDriver" -> PARKING;
                        case "portNumber" -> 1;
                        case "localAddress" -> new InetSocketAddress(ADDRESS, 7);
                        case "initQueuePairAttributes" -> new QueuePairAttributes();
                        case "toString", "describe" -> "identifier";
                        default -> null;
                    };
                });
    }
}

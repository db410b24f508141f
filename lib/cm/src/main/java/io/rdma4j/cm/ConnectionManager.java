package io.rdma4j.cm;

import io.rdma4j.cm.spi.CmProvider;
import io.rdma4j.cm.spi.ManagerAccess;
import io.rdma4j.value.PortSpace;
import io.rdma4j.value.QueuePairType;
import io.rdma4j.verbs.ClosedException;
import io.rdma4j.verbs.DeviceContext;
import io.rdma4j.verbs.Errno;
import io.rdma4j.verbs.ProtectionDomain;
import io.rdma4j.verbs.QueuePairInitAttributes;
import io.rdma4j.verbs.RdmaException;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.Collections;
import java.util.List;
import java.util.Set;
import java.util.WeakHashMap;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * Connection management over a set of devices, like librdmacm for a process. Thread safe.
 *
 * <p>{@link #ofProcess} manages connections over all devices of this host; {@link EventChannel#open} and
 * {@link CmId#create} use it. A program that creates a separate software stack gets a connection manager over only
 * the devices of that stack.
 */
public final class ConnectionManager implements AutoCloseable {
    /** Created once, because providers have state. */
    private static final class Holder {
        static final ConnectionManager OF_PROCESS = new ConnectionManager(CmProviders.ofProcess());
    }

    static {
        ManagerAccess.provide(new ManagerAccess() {
            @Override
            protected ConnectionManager newManager(CmProvider provider) {
                return new ConnectionManager(CmProviders.of(provider));
            }

            @Override
            protected CmProvider onlyProvider(ConnectionManager manager) {
                return manager.providers.only();
            }
        });
    }

    private static final int DEFAULT_BACKLOG = 128;

    /** Timeout of an endpoint's address and route resolution, each; librdmacm uses the same value. */
    private static final Duration RESOLUTION = Duration.ofSeconds(2);

    private final CmProviders providers;
    private final OpenDevices openDevices = new OpenDevices();

    /** The channels that threads may wait for; guarded by its own monitor. */
    private final Set<EventChannel> channels = Collections.newSetFromMap(new WeakHashMap<>());

    private volatile boolean closed;

    private ConnectionManager(CmProviders providers) {
        this.providers = providers;
    }

    /** Returns the connection manager of this process, over the devices of all installed providers. */
    public static ConnectionManager ofProcess() {
        return Holder.OF_PROCESS;
    }

    /**
     * Opens an event channel. C: {@code rdma_create_event_channel}.
     *
     * @throws RdmaException {@code ENODEV} if this host has no RDMA device, not even a software one
     * @throws ClosedException if the connection manager is closed
     */
    public EventChannel openEventChannel() {
        requireOpen("rdma_create_event_channel");
        providers.requireDevices("rdma_create_event_channel");
        return new EventChannel(this);
    }

    /**
     * Creates a synchronous identifier without a context object; see {@link #createId(PortSpace, Object)}. C: {@code
     * rdma_create_id} without a channel.
     */
    public CmId createId(PortSpace portSpace) {
        return createId(portSpace, null);
    }

    /**
     * Creates a synchronous identifier. C: {@code rdma_create_id} without a channel.
     *
     * @param portSpace the port space
     * @param context object for the application's use, stored in the identifier; may be null
     * @throws RdmaException {@code ENODEV} if this host has no RDMA device, not even a software one
     */
    public CmId createId(PortSpace portSpace, @Nullable Object context) {
        return createId(portSpace, portSpace.queuePairType(), context);
    }

    /**
     * Creates a synchronous identifier for a queue pair type; see
     * {@link CmId#create(PortSpace, QueuePairType, Object)}.
     *
     * @param type a type of the port space; any type in {@link PortSpace#IB}
     * @throws RdmaException {@code ENODEV} if this host has no RDMA device; {@code EINVAL} if the port space does not
     *     have the type
     */
    public CmId createId(PortSpace portSpace, QueuePairType type, @Nullable Object context) {
        requireOpen("rdma_create_id");
        providers.requireDevices("rdma_create_id");
        return new CmId(new EventChannel(this), true, portSpace, type, context);
    }

    /**
     * Creates a synchronous identifier that listens at a local address. Its {@link CmId#getRequest} creates the queue
     * pair of each connection.
     *
     * @param local an address of this host, or a wildcard; port 0 selects a free port, which {@link CmId#sourcePort}
     *     returns
     * @param attributes the attributes of the connections' queue pairs
     * @throws RdmaException as for {@link CmId#bindAddress} and {@link CmId#listen}
     */
    public CmId listen(InetSocketAddress local, QueuePairInitAttributes attributes) {
        CmId id = createId(PortSpace.TCP);
        return orClose(id, () -> {
            id.bindAddress(local);
            id.requestSetUp = request -> request.createQueuePair(attributes);
            id.listen(DEFAULT_BACKLOG);
        });
    }

    /**
     * Creates a synchronous identifier and connects it to a listener. The call returns when the peer has accepted. The
     * resolution of the address and of the route may each take up to 2 seconds.
     *
     * @param peer the address of the listener
     * @param attributes the attributes of the queue pair
     * @throws RdmaException as for {@link CmId#resolveAddress}, {@link CmId#resolveRoute}, {@link CmId#createQueuePair}
     *     and {@link CmId#connect}
     */
    public CmId connect(InetSocketAddress peer, QueuePairInitAttributes attributes) {
        return connect(peer, attributes, ConnectionParameters.defaults());
    }

    /**
     * Creates a synchronous identifier and connects it, like
     * {@link #connect(InetSocketAddress, QueuePairInitAttributes)}, with parameters of the connection: private data,
     * depths and retries.
     *
     * @throws RdmaException as for {@link #connect(InetSocketAddress, QueuePairInitAttributes)}
     */
    public CmId connect(InetSocketAddress peer, QueuePairInitAttributes attributes, ConnectionParameters parameters) {
        CmId id = createId(PortSpace.TCP);
        return orClose(id, () -> {
            id.resolveAddress(peer, RESOLUTION);
            id.resolveRoute(RESOLUTION);
            id.createQueuePair(attributes);
            id.connect(parameters);
        });
    }

    /**
     * Creates a synchronous identifier that is ready to listen or connect, without queue pairs. C: {@code
     * rdma_create_ep} without attributes, and {@code rdma_destroy_ep} for {@link CmId#close}.
     *
     * <p>For a passive endpoint, the call binds the identifier, and the program then calls {@link CmId#listen}. For an
     * active endpoint, it resolves the address and the route, which may each take up to 2 seconds.
     *
     * @param information the result of {@link AddressInformation#lookUp}
     * @throws RdmaException as for {@link CmId#bindAddress}, or {@link CmId#resolveAddress} and
     *     {@link CmId#resolveRoute}; {@code EINVAL} if the information lacks the address
     */
    public CmId createEndpoint(AddressInformation information) {
        return createEndpoint(information, id -> {});
    }

    /**
     * Creates an endpoint with queue pairs in the device's default protection domain. C: {@code rdma_create_ep}. For an
     * active endpoint, the call creates the queue pair. For a passive endpoint, {@link CmId#getRequest} creates a queue
     * pair for each connection.
     *
     * @param attributes attributes of the queue pairs
     * @throws RdmaException as for {@link #createEndpoint(AddressInformation)} and {@link CmId#createQueuePair}
     */
    public CmId createEndpoint(AddressInformation information, QueuePairInitAttributes attributes) {
        return createEndpoint(information, id -> id.createQueuePair(attributes));
    }

    /**
     * Creates an endpoint like {@link #createEndpoint(AddressInformation, QueuePairInitAttributes)}, with its queue
     * pairs in the given protection domain of the identifier's device.
     */
    public CmId createEndpoint(
            AddressInformation information, ProtectionDomain protectionDomain, QueuePairInitAttributes attributes) {
        return createEndpoint(information, id -> id.createQueuePair(protectionDomain, attributes));
    }

    private CmId createEndpoint(AddressInformation information, Consumer<CmId> createQueuePair) {
        CmId id = createId(information.portSpace(), information.queuePairType(), null);
        return orClose(id, () -> {
            if (information.isPassive()) {
                id.bindAddress(required(information.source(), "source"));
                id.requestSetUp = createQueuePair;
            } else {
                id.resolveAddress(information.source(), required(information.destination(), "destination"), RESOLUTION);
                id.resolveRoute(RESOLUTION);
                createQueuePair.accept(id);
            }
        });
    }

    private static InetSocketAddress required(@Nullable InetSocketAddress address, String name) {
        if (address == null) {
            throw CmId.invalid(
                    "rdma_create_ep", "the address information has no " + name, "Look it up with a node or a service");
        }
        return address;
    }

    /** Runs the steps that make an identifier ready, and returns it. Closes the identifier if a step fails. */
    static CmId orClose(CmId id, Runnable steps) {
        try {
            steps.run();
            return id;
        } catch (RuntimeException | Error failed) {
            IdQueues.runAllAfter(failed, id::close);
            throw failed;
        }
    }

    /**
     * Opens and returns all devices. They stay open, and {@link CmId#verbs} returns the same contexts. Devices that
     * cannot be opened are omitted. A device that was removed and added again has a new context, which another call of
     * this method returns; the application may close the old context. C: {@code rdma_get_devices};
     * {@code rdma_free_devices} has no counterpart.
     *
     * @throws RdmaException {@code ENODEV} if this host has no RDMA device, not even a software one
     */
    public List<DeviceContext> devices() {
        providers.requireDevices("rdma_get_devices");
        return openDevices.all(providers.devices());
    }

    /**
     * Returns the objects that the connection manager keeps open between identifiers. They are the contexts of devices
     * and their default domains. A program does not close them.
     */
    public Set<AutoCloseable> keptObjects() {
        return openDevices.objects();
    }

    /**
     * Closes the devices that the connection manager keeps open between identifiers. Programs should close identifiers
     * before. Later calls on open identifiers and event channels, except closing them, throw {@link ClosedException},
     * and so do waiting calls. The connection manager of the process keeps its devices until the process ends.
     *
     * @throws RdmaException {@code EINVAL} for the connection manager of the process
     */
    @Override
    public void close() {
        if (this == Holder.OF_PROCESS) {
            throw new RdmaException(
                    "rdma_free_devices", Errno.EINVAL, "the process still uses its connection manager", "");
        }
        closed = true;
        openDevices.close();
        List<EventChannel> waited;
        synchronized (channels) {
            waited = List.copyOf(channels);
        }
        waited.forEach(EventChannel::wake);
    }

    /** Makes {@link #close} end the waits for a channel. The caller checks {@link #isClosed} after this call. */
    void add(EventChannel channel) {
        synchronized (channels) {
            channels.add(channel);
        }
    }

    /** Reverts {@link #add}. */
    void remove(EventChannel channel) {
        synchronized (channels) {
            channels.remove(channel);
        }
    }

    boolean isClosed() {
        return closed;
    }

    void requireOpen(String operation) {
        if (closed) {
            throw new ClosedException(operation, "the connection manager is closed", "Create another stack");
        }
    }

    CmProviders providers() {
        return providers;
    }

    OpenDevices openDevices() {
        return openDevices;
    }
}

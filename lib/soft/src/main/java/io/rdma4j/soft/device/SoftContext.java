package io.rdma4j.soft.device;

import io.rdma4j.soft.engine.Engine;
import io.rdma4j.soft.engine.Engines;
import io.rdma4j.soft.gsi.MulticastGroups;
import io.rdma4j.soft.host.ObjectObserver;
import io.rdma4j.value.Gid;
import io.rdma4j.value.QueuePairType;
import io.rdma4j.verbs.AsyncEvent;
import io.rdma4j.verbs.AtomicCapability;
import io.rdma4j.verbs.ClosedException;
import io.rdma4j.verbs.CompletionChannel;
import io.rdma4j.verbs.CompletionQueue;
import io.rdma4j.verbs.CompletionQueueInitAttributes;
import io.rdma4j.verbs.Device;
import io.rdma4j.verbs.DeviceAttributes;
import io.rdma4j.verbs.DeviceCapability;
import io.rdma4j.verbs.DeviceContext;
import io.rdma4j.verbs.Errno;
import io.rdma4j.verbs.GidEntry;
import io.rdma4j.verbs.OnDemandOperation;
import io.rdma4j.verbs.PortAttributes;
import io.rdma4j.verbs.ProtectionDomain;
import io.rdma4j.verbs.RdmaException;
import io.rdma4j.verbs.XrcDomain;
import io.rdma4j.verbs.spi.AsyncEventQueue;
import io.rdma4j.verbs.wait.Waitable;
import java.net.InetAddress;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.EnumSet;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** An open software device. */
public final class SoftContext implements DeviceContext, InterfaceWatch.Listener {
    private static final int VENDOR = 0xff_ffff;

    private static final Set<DeviceCapability> CAPABILITIES = Collections.unmodifiableSet(EnumSet.of(
            DeviceCapability.BAD_PARTITION_KEY_COUNTER,
            DeviceCapability.BAD_QUEUE_KEY_COUNTER,
            DeviceCapability.DATAGRAM_PORT_ENFORCED,
            DeviceCapability.PORT_ACTIVE_EVENT,
            DeviceCapability.SYSTEM_IMAGE_GUID,
            DeviceCapability.RNR_NAK_GENERATION,
            DeviceCapability.SHARED_RECEIVE_QUEUE_RESIZE,
            DeviceCapability.MEMORY_WINDOW,
            DeviceCapability.XRC,
            DeviceCapability.MEMORY_MANAGEMENT_EXTENSIONS,
            DeviceCapability.MEMORY_WINDOW_TYPE_2B,
            DeviceCapability.FLUSH_GLOBAL,
            DeviceCapability.FLUSH_PERSISTENT,
            DeviceCapability.ATOMIC_WRITE));

    /** The default partition, as a full member. */
    private static final int DEFAULT_PARTITION = 0xffff;

    private final SoftDevice device;
    private final RunningStack stack;
    private final Engines engines;

    /** The main engine, whose lock guards everything that does not belong to a queue pair. */
    private final Engine engine;

    private final AsyncEventQueue asyncEvents;
    private final WallClock wallClock;
    private volatile @Nullable DeviceAttributes attributes;
    private final Set<SoftProtectionDomain> domains = new LinkedHashSet<>();
    private final Set<SoftXrcDomain> xrcDomains = new LinkedHashSet<>();
    private final Set<SoftCompletionQueue> completionQueues = new LinkedHashSet<>();
    private final Set<SoftCompletionChannel> channels = new LinkedHashSet<>();
    private volatile boolean closed;
    private volatile boolean removed;

    SoftContext(SoftDevice device, RunningStack stack) {
        this.device = device;
        this.stack = stack;
        engines = stack.engines();
        engine = engines.main();
        asyncEvents = new AsyncEventQueue(engine, device.name());
        wallClock = new WallClock(engine.clock());
    }

    @Override
    public Device device() {
        return device;
    }

    SoftDevice softDevice() {
        return device;
    }

    /** Returns the main engine, whose lock guards everything that does not belong to a queue pair. */
    Engine engine() {
        return engine;
    }

    /** Returns the parts of the stack that its devices share. */
    RunningStack stack() {
        return stack;
    }

    /** Returns the observer of the objects that the program creates and closes. */
    ObjectObserver objects() {
        return device.devices().objects();
    }

    Engines engines() {
        return engines;
    }

    @Override
    public DeviceAttributes attributes() {
        DeviceAttributes known = attributes;
        if (known == null) {
            known = describe();
            attributes = known;
        }
        return known;
    }

    private DeviceAttributes describe() {
        DeviceAttributes.Builder described = DeviceAttributes.builder();
        for (QueuePairType type : QueuePairType.values()) {
            described.onDemandOperations(type, onDemandOperations(type));
        }
        return described
                .firmwareVersion("rdma4j")
                .nodeGuid(device.guid())
                .systemImageGuid(device.guid())
                .vendorId(VENDOR)
                .pageSizes(Limits.PAGE_SIZES)
                .capabilities(CAPABILITIES)
                .atomicCapability(AtomicCapability.DEVICE)
                .maxMemoryRegionBytes(Limits.MAX_MEMORY_REGION_BYTES)
                .maxQueuePairs(engines.maxQueuePairs())
                .maxQueuePairWorkRequests(Limits.MAX_WORK_REQUESTS)
                .maxScatterGather(Limits.MAX_SCATTER_GATHER)
                .maxReadScatterGather(Limits.MAX_SCATTER_GATHER)
                .maxCompletionQueues(Limits.MAX_COMPLETION_QUEUES)
                .maxCompletionQueueEntries(Limits.MAX_COMPLETION_QUEUE_ENTRIES)
                .maxMemoryRegions(Limits.MAX_MEMORY_REGIONS)
                .maxMemoryWindows(Limits.MAX_MEMORY_WINDOWS)
                .maxProtectionDomains(Limits.MAX_PROTECTION_DOMAINS)
                .maxSharedReceiveQueues(Limits.MAX_SHARED_RECEIVE_QUEUES)
                .maxSharedReceiveQueueWorkRequests(Limits.MAX_WORK_REQUESTS)
                .maxSharedReceiveQueueScatterGather(Limits.MAX_SCATTER_GATHER)
                .maxReadAtomicPerQueuePair(Limits.MAX_READ_ATOMIC)
                .maxInitiatedReadAtomicPerQueuePair(Limits.MAX_READ_ATOMIC)
                .maxResponderResources(Math.multiplyExact(Limits.MAX_READ_ATOMIC, engines.maxQueuePairs()))
                .maxMulticastGroups(MulticastGroups.MAX_GROUPS)
                .maxMulticastQueuePairs(Limits.MAX_MULTICAST_QUEUE_PAIRS)
                .maxMulticastAttachments(MulticastGroups.MAX_GROUPS * Limits.MAX_MULTICAST_QUEUE_PAIRS)
                .maxAddressHandles(Limits.MAX_ADDRESS_HANDLES)
                .maxPartitionKeys(Limits.PARTITION_KEYS)
                .maxInlineBytes(Limits.MAX_INLINE_BYTES)
                .localAckDelay(Limits.LOCAL_ACK_DELAY)
                .ports(1)
                .onDemandPaging(true)
                .build();
    }

    /** Returns all operations of a type: no memory is ever locked. */
    private static Set<OnDemandOperation> onDemandOperations(QueuePairType type) {
        return switch (type) {
            case RELIABLE_CONNECTION, XRC_SEND, XRC_RECEIVE -> EnumSet.allOf(OnDemandOperation.class);
            case UNRELIABLE_CONNECTION ->
                EnumSet.complementOf(EnumSet.of(
                        OnDemandOperation.READ,
                        OnDemandOperation.ATOMIC,
                        OnDemandOperation.FLUSH,
                        OnDemandOperation.ATOMIC_WRITE));
            case UNRELIABLE_DATAGRAM ->
                EnumSet.of(OnDemandOperation.SEND, OnDemandOperation.RECEIVE, OnDemandOperation.SHARED_RECEIVE);
        };
    }

    @Override
    public PortAttributes port(int port) {
        requirePort("ibv_query_port", port);
        return device.port();
    }

    @Override
    public List<Gid> gids(int port) {
        requirePort("ibv_query_gid", port);
        return device.gids();
    }

    @Override
    public Gid gid(int port, int index) {
        requirePort("ibv_query_gid", port);
        if (index < 0 || index >= SoftDevice.GID_TABLE_LENGTH) {
            throw new RdmaException(
                    "ibv_query_gid",
                    Errno.EINVAL,
                    "index " + index + " at " + device.name(),
                    "The GID table has " + SoftDevice.GID_TABLE_LENGTH + " entries, from 0");
        }
        List<Gid> gids = device.gids();
        return index < gids.size() ? gids.get(index) : Gid.ZERO;
    }

    @Override
    public List<GidEntry> gidTable(int port) {
        requirePort("ibv_query_gid_table", port);
        List<GidEntry> entries = new ArrayList<>();
        List<Gid> gids = device.gids();
        for (int i = 0; i < gids.size(); i++) {
            if (!gids.get(i).equals(Gid.ZERO)) {
                entries.add(new GidEntry(gids.get(i), i, port, GidEntry.Type.ROCE_V2, device.networkIndex()));
            }
        }
        return entries;
    }

    @Override
    public int partitionKey(int port, int index) {
        requirePort("ibv_query_pkey", port);
        if (index != 0) {
            throw new RdmaException(
                    "ibv_query_pkey",
                    Errno.EINVAL,
                    "index " + index + " at " + device.name(),
                    "A software device has one partition key, at index 0");
        }
        return DEFAULT_PARTITION;
    }

    @Override
    public int partitionKeyIndex(int port, int key) {
        requirePort("ibv_get_pkey_index", port);
        return key == DEFAULT_PARTITION ? 0 : -1;
    }

    private void requirePort(String operation, int port) {
        if (port != 1) {
            throw new RdmaException(
                    operation,
                    Errno.EINVAL,
                    device.name() + " has no port " + port,
                    "A software device has port 1 only");
        }
    }

    /** Returns the open queue pairs of all protection domains. */
    List<SoftQueuePair> queuePairs() {
        List<SoftProtectionDomain> all;
        synchronized (this) {
            all = List.copyOf(domains);
        }
        return all.stream().flatMap(domain -> domain.queuePairs().stream()).toList();
    }

    // ---- objects ----

    @Override
    public ProtectionDomain createProtectionDomain() {
        synchronized (this) {
            requireOpen("ibv_alloc_pd");
            requireRoom("ibv_alloc_pd", domains.size(), Limits.MAX_PROTECTION_DOMAINS, "protection domains");
            SoftProtectionDomain domain =
                    new SoftProtectionDomain(this, device.devices().newDomainNumber());
            domains.add(domain);
            objects().onCreated(domain);
            return domain;
        }
    }

    @Override
    public XrcDomain openXrcDomain() {
        synchronized (this) {
            requireOpen("ibv_open_xrcd");
            requireRoom("ibv_open_xrcd", xrcDomains.size(), Limits.MAX_XRC_DOMAINS, "XRC domains");
            SoftXrcDomain domain = new SoftXrcDomain(this);
            xrcDomains.add(domain);
            objects().onCreated(domain);
            return domain;
        }
    }

    @Override
    public CompletionChannel createCompletionChannel() {
        synchronized (this) {
            requireOpen("ibv_create_comp_channel");
            SoftCompletionChannel channel = new SoftCompletionChannel(this);
            channels.add(channel);
            objects().onCreated(channel);
            return channel;
        }
    }

    @Override
    public int completionVectors() {
        return engines.count();
    }

    @Override
    public CompletionQueue createCompletionQueue(CompletionQueueInitAttributes attributes) {
        requireEntries("ibv_create_cq", attributes.entries());
        requireVector(attributes.completionVector());
        CompletionChannel channel = attributes.channel();
        if (channel != null && !(channel instanceof SoftCompletionChannel soft && soft.context() == this)) {
            throw new RdmaException("ibv_create_cq", Errno.EINVAL, "the completion channel is of another device", "");
        }
        synchronized (this) {
            requireOpen("ibv_create_cq");
            requireRoom("ibv_create_cq", completionQueues.size(), Limits.MAX_COMPLETION_QUEUES, "completion queues");
            SoftCompletionQueue queue = new SoftCompletionQueue(
                    this,
                    attributes.entries(),
                    attributes.context(),
                    (SoftCompletionChannel) channel,
                    attributes.completionVector());
            completionQueues.add(queue);
            objects().onCreated(queue);
            return queue;
        }
    }

    static void requireEntries(String operation, int entries) {
        if (entries < 1 || entries > Limits.MAX_COMPLETION_QUEUE_ENTRIES) {
            throw new RdmaException(
                    operation,
                    Errno.EINVAL,
                    entries + " entries",
                    "A completion queue has 1 to " + Limits.MAX_COMPLETION_QUEUE_ENTRIES + " entries");
        }
    }

    private void requireVector(int completionVector) {
        if (completionVector < 0 || completionVector >= completionVectors()) {
            throw new RdmaException(
                    "ibv_create_cq",
                    Errno.EINVAL,
                    "completion vector " + completionVector + " at " + device.name(),
                    "The device has completion vectors 0 to " + (completionVectors() - 1));
        }
    }

    private ClosedException closedException(String operation) {
        return new ClosedException(operation, device.name() + " is closed", "Open the device again");
    }

    private void requireOpen(String operation) {
        if (closed) {
            throw closedException(operation);
        }
        if (removed) {
            throw new RdmaException(
                    operation,
                    Errno.EIO,
                    device.name() + ": its network interface was removed",
                    "Close the device, list the devices again");
        }
    }

    static void requireRoom(String operation, int count, int maximum, String objects) {
        if (count >= maximum) {
            throw new RdmaException(operation, Errno.ENOMEM, count + " " + objects, "Close some that are not used");
        }
    }

    /** Removes an object that is closed. */
    synchronized void remove(Object closedObject) {
        domains.remove(closedObject);
        xrcDomains.remove(closedObject);
        completionQueues.remove(closedObject);
        channels.remove(closedObject);
        objects().onClosed(closedObject);
    }

    // ---- asynchronous events ----

    /** Adds an event of the port; any thread. */
    private void onPortEvent(AsyncEvent.Type type) {
        asyncEvents.add(new AsyncEvent(type, this, 1));
    }

    /** Adds an event; any thread. */
    void onAsyncEvent(AsyncEvent.Type type, Object source) {
        asyncEvents.add(new AsyncEvent(type, source));
    }

    /** Reports that an engine failed with an error of no particular queue pair, so that all queue pairs have failed; any thread. */
    void onDeviceFault() {
        onAsyncEvent(AsyncEvent.Type.DEVICE_FATAL, this);
    }

    /** Removes the events of an object that is closed, and waits until the events already taken are acknowledged. */
    void finishEvents(Object source) {
        asyncEvents.finish(source);
    }

    @Override
    public @Nullable AsyncEvent awaitAsyncEvent(Duration timeout) {
        AsyncEvent event = takeAsyncEvent(timeout);
        if (event != null) {
            acknowledge(event);
        }
        return event;
    }

    @Override
    public @Nullable AsyncEvent takeAsyncEvent(Duration timeout) {
        return asyncEvents.take(timeout);
    }

    @Override
    public Waitable asyncEvents() {
        return asyncEvents;
    }

    @Override
    public void acknowledge(AsyncEvent event) {
        asyncEvents.acknowledge(event);
    }

    // ---- changes of the network interface ----

    @Override
    public void onDeviceRemoved(SoftDevice changed) {
        if (!changed.equals(device) || closed) {
            return;
        }
        List<SoftProtectionDomain> all;
        synchronized (this) {
            removed = true;
            all = new ArrayList<>(domains);
        }
        all.forEach(SoftProtectionDomain::failQueuePairs);
        onAsyncEvent(AsyncEvent.Type.DEVICE_FATAL, this);
        // Nothing else can happen to it, and the watch must not keep it reachable.
        device.devices().watch().remove(this);
    }

    @Override
    public void onPortChanged(SoftDevice changed, boolean isUp) {
        if (changed.equals(device)) {
            onPortEvent(isUp ? AsyncEvent.Type.PORT_ACTIVE : AsyncEvent.Type.PORT_ERROR);
        }
    }

    @Override
    public void onAddressesChanged(SoftDevice changed, Set<InetAddress> removedAddresses) {
        if (changed.equals(device)) {
            onPortEvent(AsyncEvent.Type.GID_CHANGE);
        }
    }

    @Override
    public void onHardwareChanged(SoftDevice changed) {
        // The verbs have no event for it: nothing in the tables of the device changes.
    }

    @Override
    public Map<String, Long> counters() {
        Map<String, Long> counts = Counters.of(device.counters().sums());
        Counters.add(counts, stack.counters());
        return counts;
    }

    @Override
    public long wallClockNanos(long timestampNanos) {
        return wallClock.of(timestampNanos);
    }

    // ---- end ----

    @Override
    public void close() {
        List<SoftProtectionDomain> openDomains;
        List<SoftXrcDomain> openXrcDomains;
        List<SoftCompletionQueue> openQueues;
        List<SoftCompletionChannel> openChannels;
        synchronized (this) {
            if (closed) {
                return;
            }
            closed = true;
            openDomains = new ArrayList<>(domains);
            openXrcDomains = new ArrayList<>(xrcDomains);
            openQueues = new ArrayList<>(completionQueues);
            openChannels = new ArrayList<>(channels);
        }
        asyncEvents.close(); // closing the objects does not wait for acknowledgements
        device.devices().onClosed(this);
        openDomains.forEach(SoftProtectionDomain::closeQueuePairs); // they may use objects of other domains
        device.devices().watch().remove(this);
        openDomains.forEach(SoftProtectionDomain::closeWithContent);
        openXrcDomains.forEach(SoftXrcDomain::close);
        openQueues.forEach(SoftCompletionQueue::closeNow);
        openChannels.forEach(SoftCompletionChannel::closeNow);
    }

    @Override
    public String toString() {
        return device.toString();
    }
}

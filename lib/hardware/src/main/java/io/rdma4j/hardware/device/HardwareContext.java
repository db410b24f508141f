package io.rdma4j.hardware.device;

import io.rdma4j.hardware.library.Call;
import io.rdma4j.hardware.library.Function;
import io.rdma4j.hardware.system.DescriptorPoller;
import io.rdma4j.hardware.system.Linux;
import io.rdma4j.value.Gid;
import io.rdma4j.verbs.AsyncEvent;
import io.rdma4j.verbs.CompletionChannel;
import io.rdma4j.verbs.CompletionQueue;
import io.rdma4j.verbs.CompletionQueueInitAttributes;
import io.rdma4j.verbs.DeviceAttributes;
import io.rdma4j.verbs.DeviceContext;
import io.rdma4j.verbs.Errno;
import io.rdma4j.verbs.GidEntry;
import io.rdma4j.verbs.PortAttributes;
import io.rdma4j.verbs.ProtectionDomain;
import io.rdma4j.verbs.RdmaException;
import io.rdma4j.verbs.XrcDomain;
import io.rdma4j.verbs.abi.Flags;
import io.rdma4j.verbs.abi.Native;
import io.rdma4j.verbs.abi.VerbsStructures.Context;
import io.rdma4j.verbs.abi.VerbsStructures.ExtendedContext;
import io.rdma4j.verbs.abi.VerbsStructures.XrcDomainCreation;
import io.rdma4j.verbs.spi.AsyncEventQueue;
import io.rdma4j.verbs.wait.Waitable;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.time.Duration;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;

/** An open hardware device: a {@code struct ibv_context}. Thread safe. */
final class HardwareContext implements DeviceContext {
    /** The value of {@code abi_compat} in a context that is part of a {@code struct verbs_context}. */
    private static final long EXTENDED = -1;

    private static final int CREATE_EXCLUSIVELY = 0x40 | 0x80;

    private final HardwareDevice device;
    private final Handle handle;
    private final int contextBytes;
    private final int asyncDescriptor;
    private final int completionVectors;
    private final AsyncEventQueue asyncEvents;
    private final AsyncEventReader asyncEventReader;
    private final DeviceQueries queries = new DeviceQueries(this);
    private final Map<Long, HardwareObject> objects = new ConcurrentHashMap<>();
    private volatile @Nullable DeviceClock clock;
    private volatile boolean closing;

    private HardwareContext(HardwareDevice device, long address, int contextBytes) {
        this.device = device;
        this.handle = new Handle(address);
        this.contextBytes = contextBytes;
        asyncEvents = new AsyncEventQueue(DescriptorPoller.ofProcess(), device.name());
        asyncEventReader = new AsyncEventReader(this, asyncEvents);
        asyncDescriptor = Native.intAt(address + Context.ASYNC_DESCRIPTOR);
        completionVectors = Math.max(1, Native.intAt(address + Context.COMPLETION_VECTORS));
        Linux.setNonblocking(asyncDescriptor);
        DescriptorPoller.ofProcess().add(asyncDescriptor, asyncEventReader);
    }

    /**
     * Returns the context at an address.
     *
     * @throws RdmaException {@code EOPNOTSUPP} if its structure is unknown; the device is then closed
     */
    static HardwareContext of(HardwareDevice device, long address) {
        int end = 0;
        if (Native.longAt(address + Context.ABI_COMPAT) == EXTENDED) {
            end = Context.ABI_COMPAT + Long.BYTES;
        } else if (Native.longAt(address + Context.ABI_COMPAT_AFTER_LONG_MUTEX) == EXTENDED) {
            end = Context.ABI_COMPAT_AFTER_LONG_MUTEX + Long.BYTES;
        }
        if (end == 0) {
            try (Call call = new Call()) {
                long _ = call.result(Function.CLOSE_DEVICE, address);
            }
            throw new RdmaException(
                    "ibv_open_device",
                    Errno.EOPNOTSUPP,
                    device + ": the installed libibverbs.so.1 has another binary interface",
                    "Install rdma-core 36 or later, or use the software device (RDMA4J_DEVICE=soft)");
        }
        return new HardwareContext(device, address, end);
    }

    @Override
    public HardwareDevice device() {
        return device;
    }

    long pointer() {
        return handle.address();
    }

    Handle handle() {
        return handle;
    }

    /** Returns a function of the driver by the offset of its pointer. The address is 0 if the driver lacks it. */
    MemorySegment function(int offset) {
        return Native.functionAt(pointer() + offset);
    }

    /** Returns the size of a mutex in the library's structures. */
    int mutexBytes() {
        return contextBytes - (Context.ABI_COMPAT + Long.BYTES) + Context.MUTEX_BYTES;
    }

    /** Returns whether the {@code struct verbs_context} has a function. */
    boolean hasExtendedFunction(int offset) {
        return Native.longAt(pointer() + ExtendedContext.SIZE) >= contextBytes - offset
                && Native.longAt(pointer() + offset) != 0;
    }

    /**
     * Returns a function of the {@code struct verbs_context}.
     *
     * @throws RdmaException {@code EOPNOTSUPP} if the library or the driver lacks it
     */
    MemorySegment extendedFunction(int offset, String operation) {
        if (!hasExtendedFunction(offset)) {
            throw unsupported(operation);
        }
        return function(offset);
    }

    RdmaException unsupported(String operation) {
        return new RdmaException(operation, Errno.EOPNOTSUPP, device + " does not support it", "");
    }

    // ---- queries

    @Override
    public DeviceAttributes attributes() {
        return queries.attributes();
    }

    @Override
    public PortAttributes port(int port) {
        return queries.port(port);
    }

    @Override
    public List<Gid> gids(int port) {
        return queries.gids(port);
    }

    @Override
    public Gid gid(int port, int index) {
        List<Gid> gids = gids(port);
        if (index < 0 || index >= gids.size()) {
            throw new RdmaException(
                    "ibv_query_gid",
                    Errno.EINVAL,
                    "index " + index + " at " + device,
                    "The GID table has " + gids.size() + " entries, from 0");
        }
        return gids.get(index);
    }

    @Override
    public List<GidEntry> gidTable(int port) {
        return queries.gidTable(port);
    }

    @Override
    public int partitionKey(int port, int index) {
        return queries.partitionKey(port, index);
    }

    @Override
    public int partitionKeyIndex(int port, int key) {
        return queries.partitionKeyIndex(port, key);
    }

    @Override
    public int completionVectors() {
        return completionVectors;
    }

    @Override
    public Map<String, Long> counters() {
        return queries.counters();
    }

    @Override
    public long wallClockNanos(long timestampNanos) {
        return System.currentTimeMillis() * 1_000_000 + (timestampNanos - System.nanoTime());
    }

    // ---- objects

    @Override
    public ProtectionDomain createProtectionDomain() {
        long context = handle.enter("ibv_alloc_pd", device);
        try (Call call = new Call()) {
            long domain = call.create(Function.ALLOCATE_PROTECTION_DOMAIN, device.name(), context);
            return call.useOrDestroy(domain, Function.FREE_PROTECTION_DOMAIN, () -> {
                Layouts.requireDomain(domain, context);
                return new HardwareProtectionDomain(this, domain);
            });
        } finally {
            handle.exit();
        }
    }

    @Override
    public XrcDomain openXrcDomain() {
        long context = handle.enter("ibv_open_xrcd", device);
        try (Call call = new Call()) {
            MemorySegment attributes = call.allocate(XrcDomainCreation.BYTES);
            attributes.set(
                    ValueLayout.JAVA_INT,
                    XrcDomainCreation.MASK,
                    Flags.XRC_DOMAIN_HAS_DESCRIPTOR | Flags.XRC_DOMAIN_HAS_OPEN_FLAGS);
            attributes.set(ValueLayout.JAVA_INT, XrcDomainCreation.DESCRIPTOR, -1);
            attributes.set(ValueLayout.JAVA_INT, XrcDomainCreation.OPEN_FLAGS, CREATE_EXCLUSIVELY);
            MemorySegment open = extendedFunction(ExtendedContext.OPEN_XRC_DOMAIN, "ibv_open_xrcd");
            long domain =
                    call.created("ibv_open_xrcd", device.name(), call.result(open, context, attributes.address()));
            return new HardwareXrcDomain(this, domain);
        } finally {
            handle.exit();
        }
    }

    @Override
    public CompletionChannel createCompletionChannel() {
        long context = handle.enter("ibv_create_comp_channel", device);
        try (Call call = new Call()) {
            long channel = call.create(Function.CREATE_CHANNEL, device.name(), context);
            return call.useOrDestroy(
                    channel, Function.DESTROY_CHANNEL, () -> new HardwareCompletionChannel(this, channel));
        } finally {
            handle.exit();
        }
    }

    @Override
    public CompletionQueue createCompletionQueue(CompletionQueueInitAttributes wanted) {
        DeviceClock clock = wanted.deviceClock() ? clock() : null;
        return new CompletionQueueFactory(this, wanted).create(clock);
    }

    /** Returns the clock that stamps completions, or null if the device lacks one. */
    private @Nullable DeviceClock clock() {
        DeviceClock known = clock;
        if (known == null) {
            known = DeviceClock.of(this);
            clock = known;
        }
        return known;
    }

    /** Adds an object that the device has created. */
    void register(HardwareObject object) {
        objects.put(object.pointer(), object);
    }

    /** Removes an object that is closed. */
    void unregister(HardwareObject object) {
        objects.remove(object.pointer(), object);
    }

    /** Returns the object at an address, or null. */
    @Nullable
    HardwareObject objectAt(long address) {
        return objects.get(address);
    }

    // ---- asynchronous events

    /** Removes the pending events of a closed object, and waits until its taken events are acknowledged. */
    void finishEvents(HardwareObject source) {
        asyncEventReader.onReadable();
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
        asyncEventReader.onReadable(); // an event that the poller has not read yet
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

    // ---- life

    /** Returns whether the device is being closed; closing an object then does not wait for acknowledgements. */
    boolean isClosing() {
        return closing;
    }

    @Override
    public void close() {
        closing = true;
        asyncEventReader.close();
        asyncEvents.close();
        objects.values().forEach(object -> {
            if (object instanceof HardwareCompletionQueue queue) {
                queue.onContextClosing();
            }
        });
        handle.close(address -> {
            objects.values().stream()
                    .sorted(Comparator.comparing(HardwareObject::kind))
                    .forEach(HardwareObject::closeWithContext);
            DescriptorPoller.ofProcess().remove(asyncDescriptor);
            try (Call call = new Call()) {
                call.check(Function.CLOSE_DEVICE, device.name(), address);
            }
        });
    }

    @Override
    public String toString() {
        return device.name();
    }
}

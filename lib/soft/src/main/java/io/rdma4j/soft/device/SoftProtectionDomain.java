package io.rdma4j.soft.device;

import io.rdma4j.soft.events.FlightEvents;
import io.rdma4j.soft.events.MemoryRegistrationEvent;
import io.rdma4j.transport.MemoryTable;
import io.rdma4j.value.AccessFlag;
import io.rdma4j.verbs.AddressHandle;
import io.rdma4j.verbs.AddressVector;
import io.rdma4j.verbs.ClosedException;
import io.rdma4j.verbs.DeviceContext;
import io.rdma4j.verbs.Errno;
import io.rdma4j.verbs.MemoryAdvice;
import io.rdma4j.verbs.MemoryRegion;
import io.rdma4j.verbs.MemoryWindow;
import io.rdma4j.verbs.ProtectionDomain;
import io.rdma4j.verbs.QueuePair;
import io.rdma4j.verbs.QueuePairInitAttributes;
import io.rdma4j.verbs.RdmaException;
import io.rdma4j.verbs.ScatterGatherList;
import io.rdma4j.verbs.SharedReceiveQueue;
import io.rdma4j.verbs.SharedReceiveQueueInitAttributes;
import io.rdma4j.verbs.spi.RegionAddress;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/** A protection domain. */
final class SoftProtectionDomain implements ProtectionDomain {
    private static final String ADVISE = "ibv_advise_mr";

    private static final long PAGE_MASK = 0xfff;

    /** The random bits of a region's address, which stays below 2^62, so that no sum with a length overflows. */
    private static final long RANDOM_MASK = 0x1fff_ffff_ffff_f000L;

    /** Set in every region's address, which is thus never near zero. */
    private static final long ADDRESS_BASE = 1L << 61;

    /** A thread that no arena is confined to. */
    private static final Thread PROBE = Thread.ofVirtual().unstarted(() -> {});

    static {
        ProgramMemory.useChosenAccess();
    }

    private final SoftContext context;
    private final int number;
    private final Set<SoftMemoryRegion> regions = new LinkedHashSet<>();
    private final Set<SoftMemoryWindow> windows = new LinkedHashSet<>();
    private final Set<SoftQueuePair> queuePairs = new LinkedHashSet<>();
    private final Set<SoftSharedReceiveQueue> sharedReceiveQueues = new LinkedHashSet<>();
    private final Set<SoftAddressHandle> addressHandles = new LinkedHashSet<>();
    private boolean closed;

    SoftProtectionDomain(SoftContext context, int number) {
        this.context = context;
        this.number = number;
    }

    @Override
    public DeviceContext context() {
        return context;
    }

    SoftContext softContext() {
        return context;
    }

    int number() {
        return number;
    }

    // ---- memory ----

    @Override
    public MemoryRegion register(MemorySegment memory, Set<AccessFlag> access) {
        return register(memory, address(memory, access), access, "ibv_reg_mr");
    }

    @Override
    public MemoryRegion register(MemorySegment memory, long address, Set<AccessFlag> access) {
        RegionAddress.require(memory, address, access);
        return register(memory, address, access, "ibv_reg_mr_iova");
    }

    @Override
    public void advise(MemoryAdvice advice, ScatterGatherList ranges, boolean wait) {
        synchronized (this) {
            requireOpen(ADVISE);
            for (int i = 0; i < ranges.count(); i++) {
                requireAdvisable(advice, ranges.region(i), i);
            }
        }
    }

    private void requireAdvisable(MemoryAdvice advice, MemoryRegion region, int index) {
        if (!(region instanceof SoftMemoryRegion own) || !regions.contains(own)) {
            throw new RdmaException(
                    ADVISE,
                    Errno.EINVAL,
                    "piece " + index + " is memory of another protection domain, or closed",
                    "Call the protection domain of the memory");
        }
        if (!own.access().contains(AccessFlag.ON_DEMAND)) {
            throw new RdmaException(
                    ADVISE,
                    Errno.EINVAL,
                    "piece " + index + ": " + region,
                    "Register the memory with AccessFlag.ON_DEMAND");
        }
        if (advice == MemoryAdvice.PREFETCH_WRITE && !own.access().contains(AccessFlag.LOCAL_WRITE)) {
            throw new RdmaException(
                    ADVISE,
                    Errno.EPERM,
                    "piece " + index + ": " + region,
                    "Register the memory with AccessFlag.LOCAL_WRITE");
        }
    }

    private MemoryRegion register(MemorySegment memory, long address, Set<AccessFlag> access, String operation) {
        if (!FlightEvents.isOn()) {
            return registerNow(memory, address, access, operation);
        }
        MemoryRegistrationEvent event = new MemoryRegistrationEvent();
        event.begin();
        MemoryRegion region = registerNow(memory, address, access, operation);
        if (event.shouldCommit()) {
            event.device = context.softDevice().name();
            event.length = memory.byteSize();
            event.access = access.toString();
            event.commit();
        }
        return region;
    }

    private MemoryRegion registerNow(MemorySegment memory, long address, Set<AccessFlag> access, String operation) {
        String refusal = refusal(memory, access);
        if (refusal != null) {
            throw new RdmaException(operation, Errno.EINVAL, memory.byteSize() + " bytes for " + access, refusal);
        }
        MemoryTable table = context.engines().memory();
        synchronized (this) {
            requireOpen(operation);
            SoftContext.requireRoom(operation, table.size(), Limits.MAX_MEMORY_REGIONS, "memory regions");
            SoftMemoryRegion region = new SoftMemoryRegion(
                    this, access, table.register(memory, address, AccessFlag.bits(access), number));
            regions.add(region);
            context.objects().onCreated(region);
            return region;
        }
    }

    /** Returns what is wrong with a registration, or null. */
    static @Nullable String refusal(MemorySegment memory, Set<AccessFlag> access) {
        boolean remoteChanges = access.contains(AccessFlag.REMOTE_WRITE) || access.contains(AccessFlag.REMOTE_ATOMIC);
        if (remoteChanges && !access.contains(AccessFlag.LOCAL_WRITE)) {
            return "Remote write and remote atomic also need local write";
        }
        if (access.contains(AccessFlag.LOCAL_WRITE) && memory.isReadOnly()) {
            return "The memory segment is read-only: register it without the right to write";
        }
        if (access.contains(AccessFlag.FLUSH_PERSISTENT) && !memory.isMapped()) {
            return "Only a mapped file can be made persistent: map one with FileChannel.map, or allow FLUSH_GLOBAL only";
        }
        if (!memory.scope().isAlive()) {
            return "The memory segment's arena is closed";
        }
        if (!memory.isAccessibleBy(PROBE)) {
            return "The memory segment is confined to one thread: allocate it in Arena.ofShared() or Arena.ofAuto()";
        }
        if (memory.byteSize() > Limits.MAX_MEMORY_REGION_BYTES) {
            return "A memory region has at most " + Limits.MAX_MEMORY_REGION_BYTES + " bytes";
        }
        return null;
    }

    /**
     * Returns the address that peers use. It is unpredictable, but has the memory's offset in its page, so that both have the
     * same alignment.
     */
    long address(MemorySegment memory, Set<AccessFlag> access) {
        if (access.contains(AccessFlag.ZERO_BASED)) {
            return 0;
        }
        long random = context.engine().random().nextLong();
        return ADDRESS_BASE | random & RANDOM_MASK | memory.address() & PAGE_MASK;
    }

    /**
     * Changes a registration of this domain, and moves the region to the domain of the new one. The caller has checked the
     * arguments.
     *
     * @param change returns the new registration, or null to change nothing
     */
    @Nullable
    SoftRegistration change(
            SoftMemoryRegion region, SoftProtectionDomain to, Supplier<@Nullable SoftRegistration> change) {
        SoftProtectionDomain first = number < to.number ? this : to; // two threads may change in opposite directions
        SoftProtectionDomain second = first == this ? to : this;
        synchronized (first) {
            synchronized (second) {
                to.requireOpen(SoftMemoryRegion.REREGISTER);
                SoftRegistration changed = change.get();
                if (changed != null) {
                    regions.remove(region);
                    to.regions.add(region);
                }
                return changed;
            }
        }
    }

    @Override
    public MemoryWindow allocateMemoryWindow(MemoryWindow.Type type) {
        MemoryTable table = context.engines().memory();
        synchronized (this) {
            requireOpen("ibv_alloc_mw");
            SoftContext.requireRoom("ibv_alloc_mw", table.windowCount(), Limits.MAX_MEMORY_WINDOWS, "memory windows");
            SoftMemoryWindow window =
                    new SoftMemoryWindow(this, type, table.allocateWindow(type == MemoryWindow.Type.TYPE_2, number));
            windows.add(window);
            context.objects().onCreated(window);
            return window;
        }
    }

    // ---- queue pairs ----

    @Override
    public QueuePair createQueuePair(QueuePairInitAttributes attributes) {
        synchronized (this) {
            requireOpen("ibv_create_qp");
            SoftQueuePair queuePair = SoftQueuePair.create(this, attributes);
            queuePairs.add(queuePair);
            context.objects().onCreated(queuePair);
            return queuePair;
        }
    }

    @Override
    public SharedReceiveQueue createSharedReceiveQueue(SharedReceiveQueueInitAttributes attributes) {
        synchronized (this) {
            requireOpen("ibv_create_srq");
            SoftContext.requireRoom(
                    "ibv_create_srq",
                    sharedReceiveQueues.size(),
                    Limits.MAX_SHARED_RECEIVE_QUEUES,
                    "shared receive queues");
            context.engine().lock();
            try {
                SoftSharedReceiveQueue queue = new SoftSharedReceiveQueue(this, attributes);
                sharedReceiveQueues.add(queue);
                context.objects().onCreated(queue);
                return queue;
            } finally {
                context.engine().unlock();
            }
        }
    }

    // ---- destinations of datagrams ----

    @Override
    public AddressHandle createAddressHandle(AddressVector addressVector) {
        SoftAddressHandle handle = SoftAddressHandle.create(this, addressVector);
        synchronized (this) {
            requireOpen("ibv_create_ah");
            addressHandles.add(handle);
            context.objects().onCreated(handle);
        }
        return handle;
    }

    /** Returns the open queue pairs. */
    synchronized List<SoftQueuePair> queuePairs() {
        return List.copyOf(queuePairs);
    }

    /** Moves all queue pairs to the error state, because the device was removed. */
    void failQueuePairs() {
        queuePairs().forEach(SoftQueuePair::failSoon);
    }

    /** Removes an object that is closed. */
    synchronized void remove(Object closedObject) {
        regions.remove(closedObject);
        windows.remove(closedObject);
        queuePairs.remove(closedObject);
        sharedReceiveQueues.remove(closedObject);
        addressHandles.remove(closedObject);
        context.objects().onClosed(closedObject);
    }

    // ---- life ----

    private void requireOpen(String operation) {
        if (closed) {
            throw new ClosedException(operation, "the protection domain is closed", "");
        }
    }

    @Override
    public void close() {
        synchronized (this) {
            if (!regions.isEmpty()
                    || !windows.isEmpty()
                    || !queuePairs.isEmpty()
                    || !sharedReceiveQueues.isEmpty()
                    || !addressHandles.isEmpty()) {
                throw new RdmaException(
                        "ibv_dealloc_pd",
                        Errno.EBUSY,
                        "%d memory regions, %d memory windows, %d queue pairs, %d shared receive queues and %d address handles belong to it"
                                .formatted(
                                        regions.size(),
                                        windows.size(),
                                        queuePairs.size(),
                                        sharedReceiveQueues.size(),
                                        addressHandles.size()),
                        "Close them first");
            }
            closed = true;
        }
        context.remove(this);
    }

    void closeQueuePairs() {
        List<SoftQueuePair> open;
        synchronized (this) {
            closed = true;
            open = new ArrayList<>(queuePairs);
        }
        open.forEach(SoftQueuePair::close);
    }

    void closeWithContent() {
        List<SoftSharedReceiveQueue> openReceiveQueues;
        List<SoftMemoryRegion> openRegions;
        List<SoftMemoryWindow> openWindows;
        closeQueuePairs();
        synchronized (this) {
            openReceiveQueues = new ArrayList<>(sharedReceiveQueues);
            openRegions = new ArrayList<>(regions);
            openWindows = new ArrayList<>(windows);
            addressHandles.clear();
        }
        openReceiveQueues.forEach(SoftSharedReceiveQueue::close);
        openWindows.forEach(SoftMemoryWindow::close);
        openRegions.forEach(SoftMemoryRegion::close);
        context.remove(this);
    }
}

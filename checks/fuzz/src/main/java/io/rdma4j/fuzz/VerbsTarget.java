package io.rdma4j.fuzz;

import io.rdma4j.soft.device.StackAccess;
import io.rdma4j.soft.engine.Engine;
import io.rdma4j.testkit.TestHost;
import io.rdma4j.testkit.TestNetwork;
import io.rdma4j.value.AccessFlag;
import io.rdma4j.value.Gid;
import io.rdma4j.value.PathMtu;
import io.rdma4j.value.PlacementType;
import io.rdma4j.value.QueuePairState;
import io.rdma4j.value.QueuePairType;
import io.rdma4j.verbs.AddressHandle;
import io.rdma4j.verbs.AddressVector;
import io.rdma4j.verbs.CompletionQueue;
import io.rdma4j.verbs.Device;
import io.rdma4j.verbs.DeviceContext;
import io.rdma4j.verbs.MemoryRegion;
import io.rdma4j.verbs.MemoryRegionChange;
import io.rdma4j.verbs.MemoryWindow;
import io.rdma4j.verbs.ProtectionDomain;
import io.rdma4j.verbs.QueuePair;
import io.rdma4j.verbs.QueuePairAttributes;
import io.rdma4j.verbs.QueuePairCapabilities;
import io.rdma4j.verbs.QueuePairInitAttributes;
import io.rdma4j.verbs.RdmaException;
import io.rdma4j.verbs.ReceiveWorkRequest;
import io.rdma4j.verbs.RemoteMemory;
import io.rdma4j.verbs.ScatterGatherList;
import io.rdma4j.verbs.SendWorkRequest;
import io.rdma4j.verbs.WorkCompletion;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.time.Duration;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;
import java.util.Set;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * F7: calls of the verbs in any order with any values, between queue pairs of one stack. The engines run a duty cycle after each
 * call that was not refused.
 *
 * <p>A call succeeds or is refused by an exception of the verbs that names the operation and the reason. Closing an
 * object succeeds or is refused because the object is in use. Nothing is written outside registered memory. At the end
 * no queue pair is left, and none has failed because of an internal error.
 *
 * <p>An input with a length that is a multiple of 16 has a separate context, which is closed with all remaining
 * objects. Other inputs share a context and close the remaining objects themselves, which is several times as fast.
 */
public final class VerbsTarget implements FuzzTarget {
    private static final int BYTES = 8192;
    private static final int GUARD = 256;
    private static final byte CANARY = (byte) 0xc5;
    private static final int MAX_OBJECTS = 8;
    private static final int ENTRIES = 16;
    private static final int LENGTHS_PER_OWN_CONTEXT = 16;

    /** The time of one duty cycle of a test network. */
    private static final Duration DUTY_CYCLE = Duration.ofNanos(1_000);

    /** Several of the acknowledgement timeouts that {@link #connect} sets. */
    private static final Duration PAUSE = Duration.ofMillis(10);

    private static final AccessFlag[] FLAGS = AccessFlag.values();
    private static final List<Set<PlacementType>> PLACEMENTS =
            List.of(Set.of(PlacementType.GLOBAL), Set.of(PlacementType.PERSISTENT), EnumSet.allOf(PlacementType.class));
    private static final PathMtu[] MTUS = PathMtu.values();
    private static final QueuePairState[] STATES = QueuePairState.values();
    private static final QueuePairType[] TYPES = {
        QueuePairType.RELIABLE_CONNECTION, QueuePairType.UNRELIABLE_CONNECTION, QueuePairType.UNRELIABLE_DATAGRAM
    };

    private List<CompletionQueue> queues = List.of();
    private List<QueuePair> pairs = List.of();
    private List<MemoryRegion> regions = List.of();
    private List<MemoryWindow> windows = List.of();
    private List<AddressHandle> handles = List.of();
    private List<ProtectionDomain> domains = List.of();

    /** Creates the target. */
    public VerbsTarget() {}

    @Override
    public void run(byte[] input) {
        Script script = new Script(input);
        queues = new ArrayList<>();
        pairs = new ArrayList<>();
        regions = new ArrayList<>();
        windows = new ArrayList<>();
        handles = new ArrayList<>();
        domains = new ArrayList<>();
        MemorySegment memory = SharedMemory.SEGMENT;
        memory.fill(CANARY);
        long failures = Host.queuePairFailures();
        if (input.length % LENGTHS_PER_OWN_CONTEXT == 0) {
            try (DeviceContext context = Host.DEVICE.open()) {
                execute(script, context);
            }
        } else {
            execute(script, Host.CONTEXT);
            closeAll();
        }
        for (int i = 0; i < GUARD; i++) {
            Invariant.holds(
                    memory.get(ValueLayout.JAVA_BYTE, i) == CANARY
                            && memory.get(ValueLayout.JAVA_BYTE, GUARD + BYTES + i) == CANARY,
                    "nothing is written outside registered memory");
        }
        Invariant.equal(Host.queuePairFailures(), failures, "queue pairs that failed by an internal error");
        Invariant.equal(Host.queuePairCount(), 0, "queue pairs left at the end");
    }

    private void execute(Script script, DeviceContext context) {
        domains.add(context.createProtectionDomain());
        queues.add(context.createCompletionQueue(ENTRIES, null, null, 0));
        while (!script.isAtEnd()) {
            try {
                step(script, context);
                Host.NETWORK.time().advance(DUTY_CYCLE);
            } catch (RdmaException refused) {
                Invariant.holds(
                        !refused.operation().isEmpty()
                                && String.valueOf(refused.getMessage()).length()
                                        > refused.operation().length(),
                        "a refusal names operation and reason");
            }
        }
    }

    /** Closes objects before the objects that they use, so no call is refused. */
    private void closeAll() {
        for (List<? extends AutoCloseable> objects : List.of(pairs, windows, regions, handles, queues, domains)) {
            objects.forEach(VerbsTarget::close);
        }
    }

    /** Memory for a device must be outside the heap. */
    private static final class SharedMemory {
        private static final MemorySegment SEGMENT = Arena.global().allocate(GUARD + BYTES + GUARD, 4096);
    }

    /** A host in virtual time and memory: without threads and system calls, an input is executed fast. */
    private static final class Host {
        private static final TestNetwork NETWORK = TestNetwork.inVirtualTime(1);
        private static final TestHost HOST = NETWORK.addHost("10.0.0.1");
        private static final Device DEVICE = HOST.device();
        private static final Gid GID = Gid.of(HOST.address());
        private static final DeviceContext CONTEXT = DEVICE.open();
        private static final int GID_INDEX = CONTEXT.gids(1).indexOf(GID);

        private static Engine engine() {
            return StackAccess.devices(HOST.stack()).engine();
        }

        /** Returns the number of queue pairs that exist. */
        private static int queuePairCount() {
            Engine engine = engine();
            engine.lock();
            try {
                return engine.queuePairCount();
            } finally {
                engine.unlock();
            }
        }

        /** Returns how many queue pairs have failed by an internal error. */
        private static long queuePairFailures() {
            return engine().engines().counters().queuePairFailures;
        }
    }

    private static <T> @Nullable T choose(List<T> list, Script script) {
        return list.isEmpty() ? null : list.get(script.u8() % list.size());
    }

    private void step(Script script, DeviceContext context) {
        switch (script.choice(16)) {
            case 0 -> {
                if (domains.size() < MAX_OBJECTS) {
                    domains.add(context.createProtectionDomain());
                }
            }
            case 1 -> {
                if (queues.size() < MAX_OBJECTS) {
                    queues.add(context.createCompletionQueue(size(script), null, null, script.choice(3)));
                }
            }
            case 2 -> create(script);
            case 3 -> {
                if (regions.size() < MAX_OBJECTS) {
                    MemorySegment part = registrable(script);
                    regions.add(domains.get(script.u8() % domains.size()).register(part, flags(script.u16())));
                }
            }
            case 4 -> {
                if (windows.size() < MAX_OBJECTS) {
                    windows.add(domains.get(script.u8() % domains.size())
                            .allocateMemoryWindow(script.flag() ? MemoryWindow.Type.TYPE_1 : MemoryWindow.Type.TYPE_2));
                }
            }
            case 5 -> {
                if (handles.size() < MAX_OBJECTS) {
                    handles.add(domains.get(script.u8() % domains.size()).createAddressHandle(path(script)));
                }
            }
            case 6, 7 -> modify(script);
            case 8 -> connect(script);
            case 9, 10, 11 -> send(script);
            case 12 -> receive(script);
            case 13 -> {
                CompletionQueue queue = choose(queues, script);
                if (queue != null) {
                    int count = queue.poll(WorkCompletion.array(1 + script.choice(ENTRIES)));
                    Invariant.atMost(count, queue.capacity(), "completions of a queue");
                }
            }
            case 14 -> close(script);
            default -> otherCall(script);
        }
    }

    /** Returns a small size or one that no device supports. Sizes between these would be allocated. */
    private static int size(Script script) {
        int size = script.near();
        return size > Byte.MAX_VALUE ? Integer.MAX_VALUE : size;
    }

    private static Set<AccessFlag> flags(int bits) {
        Set<AccessFlag> flags = EnumSet.noneOf(AccessFlag.class);
        for (int i = 0; i < FLAGS.length; i++) {
            if ((bits & 1 << i) != 0) {
                flags.add(FLAGS[i]);
            }
        }
        return flags;
    }

    /** Returns a path that usually leads to this device. */
    private AddressVector path(Script script) {
        int variation = script.u8();
        Gid destination = (variation & 0xf0) == 0xf0 ? new Gid(0, script.s64()) : Host.GID;
        int index = (variation & 0x0f) == 0x0f ? script.near() : Host.GID_INDEX;
        int port = (variation & 0x88) == 0x88 ? script.near() : 1;
        return AddressVector.of(index, destination).withPort(port);
    }

    private static MemorySegment registrable(Script script) {
        int from = script.u16() % BYTES;
        int length = script.u16() % (BYTES - from + 1);
        return SharedMemory.SEGMENT.asSlice(GUARD + from, length);
    }

    private void create(Script script) {
        CompletionQueue sends = choose(queues, script);
        CompletionQueue receives = choose(queues, script);
        if (sends == null || receives == null || pairs.size() >= MAX_OBJECTS) {
            return;
        }
        int sizes = script.u8();
        QueuePairCapabilities capabilities = sizes < 0xf0
                ? new QueuePairCapabilities(1 + sizes % 8, 1 + (sizes >> 3) % 8, 2, 2, 64)
                : new QueuePairCapabilities(size(script), size(script), size(script), size(script), size(script));
        pairs.add(domains.get(script.u8() % domains.size())
                .createQueuePair(QueuePairInitAttributes.of(TYPES[script.choice(TYPES.length)], sends, capabilities)
                        .withReceiveCompletions(receives)
                        .withSignalAll(script.flag())));
    }

    private void modify(Script script) {
        QueuePair pair = choose(pairs, script);
        if (pair == null) {
            return;
        }
        QueuePairAttributes a = new QueuePairAttributes();
        int mask = script.u16();
        if ((mask & 1) != 0) {
            a.state(STATES[script.choice(STATES.length)]);
        }
        if ((mask & 2) != 0) {
            a.accessFlags(flags(script.u16()));
        }
        if ((mask & 4) != 0) {
            a.partitionKeyIndex(script.near()).port(script.near());
        }
        if ((mask & 8) != 0) {
            a.addressVector(path(script)).pathMtu(MTUS[script.choice(MTUS.length)]);
        }
        if ((mask & 16) != 0) {
            a.destinationQueuePair(script.s32());
        }
        if ((mask & 32) != 0) {
            a.receivePsn(script.s32());
        }
        if ((mask & 64) != 0) {
            a.sendPsn(script.s32()).maxReadAtomic(script.near());
        }
        if ((mask & 128) != 0) {
            a.maxDestinationReadAtomic(script.near()).minRnrTimer(script.near());
        }
        if ((mask & 256) != 0) {
            a.retryCount(script.near()).rnrRetry(script.near()).timeout(script.near());
        }
        if ((mask & 512) != 0) {
            a.queueKey(script.s32());
        }
        if ((mask & 1024) != 0) {
            a.currentState(STATES[script.choice(STATES.length)]);
        }
        QueuePairState before = pair.state();
        try {
            pair.modify(a);
        } catch (RdmaException refused) {
            Invariant.holds(
                    isPossibleAfterRefusal(before, pair.state()), "a refused change leaves the state unchanged");
            throw refused;
        }
    }

    /** Returns whether the state is unchanged, or an error state caused by a concurrent failure. */
    private static boolean isPossibleAfterRefusal(QueuePairState before, QueuePairState after) {
        return after == before
                || after == QueuePairState.ERROR
                || before == QueuePairState.READY_TO_SEND && after == QueuePairState.SEND_QUEUE_ERROR;
    }

    /** Connects two queue pairs correctly. */
    private void connect(Script script) {
        QueuePair a = choose(pairs, script);
        QueuePair b = choose(pairs, script);
        if (a != null && b != null) {
            connect(a, b);
            connect(b, a);
        }
    }

    private void connect(QueuePair pair, QueuePair peer) {
        pair.modify(new QueuePairAttributes().state(QueuePairState.RESET));
        QueuePairAttributes init = new QueuePairAttributes()
                .state(QueuePairState.INIT)
                .partitionKeyIndex(0)
                .port(1);
        QueuePairAttributes receive = new QueuePairAttributes().state(QueuePairState.READY_TO_RECEIVE);
        QueuePairAttributes send =
                new QueuePairAttributes().state(QueuePairState.READY_TO_SEND).sendPsn(7);
        if (pair.type() == QueuePairType.UNRELIABLE_DATAGRAM) {
            init.queueKey(1);
        } else {
            init.accessFlags(flags(0x33f));
            receive.addressVector(AddressVector.of(Host.GID_INDEX, Host.GID))
                    .pathMtu(PathMtu.MTU_256)
                    .destinationQueuePair(peer.number())
                    .receivePsn(7);
        }
        if (pair.type() == QueuePairType.RELIABLE_CONNECTION) {
            receive.maxDestinationReadAtomic(2).minRnrTimer(1);
            send.maxReadAtomic(2).retryCount(1).rnrRetry(0).timeout(8);
        }
        pair.modify(init);
        pair.modify(receive);
        pair.modify(send);
    }

    private void send(Script script) {
        QueuePair pair = choose(pairs, script);
        MemoryRegion region = choose(regions, script);
        MemoryRegion remote = choose(regions, script);
        if (pair == null) {
            return;
        }
        SendWorkRequest request = new SendWorkRequest().reset(script.u8());
        long address = remote == null ? script.s64() : remote.address() + script.near();
        int key = remote == null ? script.s32() : remote.remoteKey();
        int flags = script.u8();
        if (region != null) {
            add(request.list(), region, script.near(), script.near() * 16L);
            if ((flags & 1) != 0) {
                add(request.list(), region, 0, script.u8());
            }
        }
        operation(script, request, address, key, region);
        if ((flags & 2) != 0) {
            request.signaled();
        }
        if ((flags & 4) != 0) {
            request.fenced();
        }
        if ((flags & 8) != 0) {
            request.inline();
        }
        AddressHandle handle = choose(handles, script);
        if ((flags & 16) != 0 && handle != null) {
            QueuePair to = choose(pairs, script);
            request.to(handle, to == null ? 0 : to.number(), 1);
        }
        pair.postSend(request);
    }

    private static void add(ScatterGatherList list, MemoryRegion region, long offset, long length) {
        boolean fits = offset >= 0 && length >= 0 && offset <= region.lengthBytes() - length;
        try {
            list.add(region, offset, length);
            Invariant.holds(fits, "an accepted element is within its region");
        } catch (IndexOutOfBoundsException refused) {
            Invariant.holds(!fits, "an element within its region is accepted");
        }
    }

    private void operation(
            Script script, SendWorkRequest request, long address, int key, @Nullable MemoryRegion region) {
        MemoryWindow window = choose(windows, script);
        switch (script.choice(12)) {
            case 0 -> request.write(address, key);
            case 1 -> request.write(address, key).withImmediate(script.u8());
            case 2 -> request.read(address, key);
            case 3 -> request.compareAndSwap(address, key, script.u8(), script.u8());
            case 4 -> request.fetchAndAdd(address, key, script.u8());
            case 5 -> request.withInvalidate(script.flag() || window == null ? key : window.remoteKey());
            case 6 -> {
                if (window != null && region != null) {
                    request.bind(window, window.nextRemoteKey())
                            .boundTo(region, script.near(), script.near(), flags(script.u8()));
                }
            }
            case 8 -> request.atomicWrite(address, key, script.u8());
            case 9 -> request.flush(address, key, script.u16(), PLACEMENTS.get(script.choice(PLACEMENTS.size())));
            case 10 -> request.flushRegion(key, PLACEMENTS.get(script.choice(PLACEMENTS.size())));
            case 7 -> request.localInvalidate(script.flag() || window == null ? key : window.remoteKey());
            default -> {
                // A SEND.
            }
        }
    }

    private void receive(Script script) {
        QueuePair pair = choose(pairs, script);
        MemoryRegion region = choose(regions, script);
        if (pair != null) {
            ReceiveWorkRequest request = new ReceiveWorkRequest().reset(script.u8());
            if (region != null) {
                add(request.list(), region, script.near(), script.near() * 16L);
            }
            pair.postReceive(request);
        }
    }

    private void close(Script script) {
        List<? extends List<? extends AutoCloseable>> lists =
                List.of(pairs, regions, windows, handles, queues, domains);
        int kind = script.choice(lists.size());
        List<? extends AutoCloseable> objects = lists.get(kind);
        // The first domain and the first completion queue are kept, as other calls need them.
        int min = kind < lists.size() - 2 ? 0 : 1;
        if (objects.size() > min) {
            AutoCloseable object = objects.get(min + script.u8() % (objects.size() - min));
            close(object);
            if (script.flag()) { // otherwise it is used although closed
                objects.remove(object);
            }
        }
    }

    /** Closes an object, or throws the exception of the verbs if the object is in use. */
    private static void close(AutoCloseable object) {
        try {
            object.close();
        } catch (RdmaException inUse) {
            throw inUse;
        } catch (Exception e) {
            throw new AssertionError("closing fails", e);
        }
    }

    private void otherCall(Script script) {
        CompletionQueue queue = choose(queues, script);
        QueuePair pair = choose(pairs, script);
        switch (script.choice(6)) {
            case 0 -> {
                if (queue != null) {
                    queue.resize(size(script));
                }
            }
            case 1 -> {
                if (queue != null) {
                    queue.requestNotification(script.flag());
                }
            }
            case 2 -> {
                if (pair != null) {
                    Invariant.holds(pair.query().state() != null, "a queue pair has a state");
                }
            }
            case 3 -> Host.NETWORK.time().advance(PAUSE);
            case 4 -> reregister(script);
            default -> {
                if (pair != null) {
                    pair.attachMulticast(new Gid(0, 0xffff_e000_0000L | script.u8()));
                }
            }
        }
    }

    private void reregister(Script script) {
        MemoryRegion region = choose(regions, script);
        if (region == null) {
            return;
        }
        int mask = script.u8();
        MemoryRegionChange change = new MemoryRegionChange(
                (mask & 1) == 0 ? null : registrable(script),
                (mask & 2) == 0 ? null : domains.get(script.u8() % domains.size()),
                (mask & 4) == 0 ? null : flags(script.u16()));
        RemoteMemory before = region.remote();
        try {
            region.reregister(change);
        } catch (RdmaException refused) {
            Invariant.holds(region.remote().equals(before), "a refused change leaves address, key and length");
            throw refused;
        }
        Invariant.holds(
                change.memory() == null ? region.remote().equals(before) : region.remoteKey() != before.key(),
                "only other memory has another key");
        Invariant.holds(change.access() == null || change.access().equals(region.access()), "rights are the new ones");
    }

    @Override
    public Stream<byte[]> seeds() {
        return Stream.of(0, 1, 2).map(type -> {
            ScriptWriter seed = new ScriptWriter();
            for (int i = 0; i < 2; i++) {
                seed.u8(2, 0, 0, 33, 0, type, 1); // a queue pair
                seed.u8(3).u16(i * 4096).u16(4096).u8(0).u16(0x11f); // a region
            }
            seed.u8(4, 0, 0, 5, 0, 0); // a window, an address handle
            seed.u8(8, 0, 1); // peers
            for (int operation = 0; operation < 12; operation++) {
                seed.u8(12, 1, 1, 9, 0, 64); // a receive
                seed.u8(9, 0, 0, 1, 5, 0, 0x12, 0, 1, 0, operation, 1, 1, 0, 1).u8(13, 0, 15);
            }
            seed.u8(6, 0)
                    .u16(1)
                    .u8(6)
                    .u8(15, 0, 0, 0, 30)
                    .u8(15, 0, 0, 4, 0, 4) // other rights
                    .u16(0x11f)
                    .u8(15, 0, 0, 4, 0, 5) // other memory and rights
                    .u16(64)
                    .u16(1024)
                    .u16(0x11f)
                    .u8(15, 0, 0, 4, 1, 2, 0) // a domain
                    .u8(9, 0, 0, 1, 5, 0, 0x12, 0, 1, 0, 0, 1, 1, 0, 1)
                    .u8(14, 0, 0, 1)
                    .u8(14, 1, 0, 0)
                    .u8(9, 0, 0, 0, 0, 0);
            return seed.bytes();
        });
    }
}

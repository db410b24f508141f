package io.rdma4j.acceptance.traffic;

import io.rdma4j.acceptance.process.Parent;
import io.rdma4j.acceptance.process.Role;
import io.rdma4j.value.AccessFlag;
import io.rdma4j.value.CompletionStatus;
import io.rdma4j.value.PlacementType;
import io.rdma4j.value.QueuePairState;
import io.rdma4j.verbs.MemoryRegion;
import io.rdma4j.verbs.MemoryWindow;
import io.rdma4j.verbs.ProtectionDomain;
import io.rdma4j.verbs.SendWorkRequest;
import io.rdma4j.verbs.WorkCompletion;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.SynchronousQueue;
import org.jspecify.annotations.Nullable;

/**
 * Both sides of connections over loopback, on which a client tries every kind of invalid access to the server's memory,
 * and some valid ones. Reports {@code result} with the number of {@code rows} and a line in {@code wrong} for each row
 * with an unexpected result.
 */
public final class AccessMatrix implements Role {
    private static final int CANARY_BYTES = 64 << 10;
    private static final int REGION_BYTES = 1 << 20;
    private static final byte CANARY = (byte) 0xa5;
    private static final byte CONTENT = 0x11;
    private static final byte CLIENT_CONTENT = 0x5a;
    private static final Duration STEP = Duration.ofSeconds(5);
    private static final CompletionStatus DENIED = CompletionStatus.REMOTE_ACCESS_ERROR;
    private static final Set<AccessFlag> ALL = Set.of(
            AccessFlag.LOCAL_WRITE,
            AccessFlag.REMOTE_WRITE,
            AccessFlag.REMOTE_READ,
            AccessFlag.REMOTE_ATOMIC,
            AccessFlag.FLUSH_GLOBAL,
            AccessFlag.MEMORY_WINDOW_BIND);

    /** An operation of the client. */
    private enum Operation {
        WRITE,
        READ,
        FLUSH,
        FETCH_AND_ADD,
        COMPARE_AND_SWAP,
        ATOMIC_WRITE;

        boolean isOfEightBytes() {
            return compareTo(FETCH_AND_ADD) >= 0;
        }

        SendWorkRequest request(MemoryRegion local, int bytes, long address, int key) {
            SendWorkRequest request = new SendWorkRequest().reset(1).signaled();
            if (bytes > 0 && this != FLUSH && this != ATOMIC_WRITE) {
                request.from(local, 0, bytes);
            }
            return switch (this) {
                case FLUSH -> request.flush(address, key, bytes, Set.of(PlacementType.GLOBAL));
                case ATOMIC_WRITE -> request.atomicWrite(address, key, 1);
                case WRITE -> request.write(address, key);
                case READ -> request.read(address, key);
                case FETCH_AND_ADD -> request.fetchAndAdd(address, key, 1);
                case COMPARE_AND_SWAP -> request.compareAndSwap(address, key, 0, 1);
            };
        }
    }

    /** Creates the target of a row, from the server's side and a region of it with all access rights. */
    private interface TargetFactory {
        Target create(TrafficSide server, MemoryRegion region);
    }

    /** The target of a row. */
    private record Target(long address, int key) {}

    private record Row(
            String name, Operation operation, int bytes, CompletionStatus expected, TargetFactory targetFactory) {}

    private final List<Row> rows = new ArrayList<>();
    private final Arena arena = Arena.ofShared();
    private final MemorySegment memory = arena.allocate(REGION_BYTES + 2L * CANARY_BYTES, 4096);
    private final MemorySegment exposed = memory.asSlice(CANARY_BYTES, REGION_BYTES);
    private final MemorySegment local = arena.allocate(REGION_BYTES + 4096L, 4096);
    private final List<AutoCloseable> resources = new ArrayList<>();

    private void row(
            String name, CompletionStatus expected, int bytes, TargetFactory targetFactory, Operation... operations) {
        for (Operation operation : operations) {
            int length = operation.isOfEightBytes() ? Long.BYTES : bytes;
            rows.add(new Row(name + ", " + operation, operation, length, expected, targetFactory));
        }
    }

    private static MemoryRegion keep(List<AutoCloseable> list, MemoryRegion region) {
        list.add(region);
        return region;
    }

    private TargetFactory exposedWith(AccessFlag... rights) {
        return (server, region) -> {
            MemoryRegion other = keep(resources, server.domain().register(exposed, rights));
            return new Target(other.address(), other.remoteKey());
        };
    }

    private void fill() {
        Operation[] all = Operation.values();
        Operation[] plain = {Operation.WRITE, Operation.READ};
        Operation[] ranges = {Operation.WRITE, Operation.READ, Operation.FLUSH};
        CompletionStatus success = CompletionStatus.SUCCESS;
        row("within", success, 64, (s, r) -> new Target(r.address(), r.remoteKey()), all);
        row("key + 1", DENIED, 64, (s, r) -> new Target(r.address(), r.remoteKey() + 1), all);
        row("another key index", DENIED, 64, (s, r) -> new Target(r.address(), r.remoteKey() ^ 0x100), plain);
        row("deregistered region", DENIED, 64, this::deregistered, all);
        row("another protection domain", DENIED, 64, this::inAnotherDomain, all);
        row("local rights only", DENIED, 64, exposedWith(AccessFlag.LOCAL_WRITE), all);
        row(
                "read right only",
                DENIED,
                64,
                exposedWith(AccessFlag.LOCAL_WRITE, AccessFlag.REMOTE_READ),
                Operation.WRITE,
                Operation.FLUSH,
                Operation.FETCH_AND_ADD,
                Operation.COMPARE_AND_SWAP,
                Operation.ATOMIC_WRITE);
        row(
                "write right only",
                DENIED,
                64,
                exposedWith(AccessFlag.LOCAL_WRITE, AccessFlag.REMOTE_WRITE),
                Operation.READ,
                Operation.FLUSH,
                Operation.FETCH_AND_ADD);
        row(
                "right to FLUSH only",
                DENIED,
                64,
                exposedWith(AccessFlag.LOCAL_WRITE, AccessFlag.FLUSH_GLOBAL),
                Operation.WRITE,
                Operation.READ,
                Operation.ATOMIC_WRITE);
        row("one byte before", DENIED, 16, (s, r) -> new Target(r.address() - 1, r.remoteKey()), ranges);
        row(
                "eight bytes before",
                DENIED,
                8,
                (s, r) -> new Target(r.address() - 8, r.remoteKey()),
                Operation.FETCH_AND_ADD,
                Operation.COMPARE_AND_SWAP,
                Operation.ATOMIC_WRITE);
        row("up to the end", success, 16, (s, r) -> new Target(end(r) - 16, r.remoteKey()), ranges);
        row("one byte beyond the end", DENIED, 16, (s, r) -> new Target(end(r) - 15, r.remoteKey()), ranges);
        row("after the end", DENIED, 1, (s, r) -> new Target(end(r) + 1, r.remoteKey()), plain);
        row(
                "atomic at the end",
                DENIED,
                8,
                (s, r) -> new Target(end(r), r.remoteKey()),
                Operation.FETCH_AND_ADD,
                Operation.ATOMIC_WRITE);
        row(
                "longer than the region",
                DENIED,
                REGION_BYTES + 16,
                (s, r) -> new Target(r.address(), r.remoteKey()),
                plain);
        row("wraps around the address space", DENIED, 32, (s, r) -> new Target(-16, r.remoteKey()), plain);
        row("zero bytes with a wrong key", success, 0, (s, r) -> new Target(r.address(), r.remoteKey() + 1), plain);
        row(
                "unaligned atomic",
                CompletionStatus.REMOTE_INVALID_REQUEST_ERROR,
                8,
                (s, r) -> new Target(r.address() + 1, r.remoteKey()),
                Operation.FETCH_AND_ADD,
                Operation.COMPARE_AND_SWAP,
                Operation.ATOMIC_WRITE);
        row("unbound window", DENIED, 64, this::unbound, plain);
        row("window", success, 64, (s, r) -> window(s, r, s), plain);
        row("window of another connection", DENIED, 64, this::boundElsewhere, plain);
        row("invalidated window", DENIED, 64, this::invalidated, plain);
        row("before the window", DENIED, 64, this::beforeWindow, plain);
        row("old key of a window", DENIED, 64, this::staleWindow, plain);
    }

    private static long end(MemoryRegion region) {
        return region.address() + region.lengthBytes();
    }

    private Target deregistered(TrafficSide server, MemoryRegion region) {
        MemoryRegion other = server.domain().register(exposed, ALL);
        other.close();
        return new Target(other.address(), other.remoteKey());
    }

    private Target inAnotherDomain(TrafficSide server, MemoryRegion region) {
        ProtectionDomain domain = server.id().verbs().createProtectionDomain();
        resources.add(domain);
        MemoryRegion other = keep(resources, domain.register(exposed, ALL));
        return new Target(other.address(), other.remoteKey());
    }

    private Target unbound(TrafficSide server, MemoryRegion region) {
        MemoryWindow window = server.domain().allocateMemoryWindow(MemoryWindow.Type.TYPE_2);
        resources.add(window);
        return new Target(region.address(), window.remoteKey());
    }

    /** Binds a window to the second 4 KiB of the region by the queue pair of {@code binder}. */
    private Target window(TrafficSide server, MemoryRegion region, TrafficSide binder) {
        MemoryWindow window = server.domain().allocateMemoryWindow(MemoryWindow.Type.TYPE_2);
        resources.add(window);
        int key = window.nextRemoteKey();
        finish(
                binder,
                new SendWorkRequest()
                        .reset(2)
                        .bind(window, key)
                        .boundTo(region, 4096, 4096, Set.of(AccessFlag.REMOTE_WRITE, AccessFlag.REMOTE_READ))
                        .signaled());
        return new Target(region.address() + 4096, key);
    }

    private Target invalidated(TrafficSide server, MemoryRegion region) {
        Target target = window(server, region, server);
        finish(
                server,
                new SendWorkRequest().reset(3).localInvalidate(target.key).signaled());
        return target;
    }

    private Target beforeWindow(TrafficSide server, MemoryRegion region) {
        Target target = window(server, region, server);
        return new Target(target.address - 32, target.key);
    }

    private Target staleWindow(TrafficSide server, MemoryRegion region) {
        Target target = window(server, region, server);
        return new Target(target.address, target.key - 1);
    }

    private Target boundElsewhere(TrafficSide server, MemoryRegion region) {
        TrafficSide[] others = connect();
        resources.addAll(List.of(others));
        MemoryRegion same = keep(resources, others[1].domain().register(exposed, ALL));
        return window(others[1], same, others[1]);
    }

    private static void finish(TrafficSide side, SendWorkRequest request) {
        WorkCompletion[] batch = WorkCompletion.array(4);
        side.queuePair().postSend(request);
        int count = side.await(batch, STEP);
        if (count != 1 || !batch[0].isSuccess()) {
            throw new IllegalStateException("preparation failed: " + (count == 0 ? "nothing" : batch[0]));
        }
    }

    // ---- the two sides

    private final SynchronousQueue<TrafficSide> accepted = new SynchronousQueue<>();
    private final TrafficSide.Listener listener =
            new TrafficSide.Listener(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 4);

    private static TrafficSide.Shape shape() {
        return TrafficSide.Shape.of(16, 16, 4096);
    }

    private TrafficSide[] connect() {
        TrafficSide client = TrafficSide.connect(
                new InetSocketAddress(InetAddress.getLoopbackAddress(), 0),
                new InetSocketAddress(InetAddress.getLoopbackAddress(), listener.port()),
                shape());
        try {
            return new TrafficSide[] {client, accepted.take()};
        } catch (InterruptedException e) {
            throw new IllegalStateException("interrupted", e);
        }
    }

    @Override
    public void run(Parent parent) throws Exception {
        Thread.ofPlatform().daemon().start(this::accept);
        fill();
        List<String> wrong = new ArrayList<>();
        for (Row row : rows) {
            String difference = run(row);
            if (!difference.isEmpty()) {
                wrong.add(row.name() + ": " + difference);
            }
        }
        parent.report("result", Map.of("rows", rows.size(), "wrong", wrong));
    }

    private void accept() {
        try {
            while (true) {
                accepted.put(listener.accept(shape()));
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    /** Runs a row. Returns what differs from the expected result, or an empty string. */
    private String run(Row row) throws Exception {
        memory.fill(CANARY);
        exposed.fill(CONTENT);
        local.fill(CLIENT_CONTENT);
        TrafficSide[] sides = connect();
        try {
            TrafficSide server = sides[1];
            MemoryRegion region = keep(resources, server.domain().register(exposed, ALL));
            MemoryRegion localRegion = keep(resources, sides[0].domain().register(local, AccessFlag.LOCAL_WRITE));
            Target target = row.targetFactory.create(server, region);
            byte[] before = memory.toArray(ValueLayout.JAVA_BYTE);
            sides[0].queuePair().postSend(row.operation.request(localRegion, row.bytes, target.address, target.key));
            WorkCompletion[] batch = WorkCompletion.array(4);
            int count = sides[0].await(batch, STEP);
            return check(row, count == 0 ? null : batch[0].status(), before, server);
        } finally {
            for (AutoCloseable each : resources.reversed()) {
                each.close();
            }
            resources.clear();
            sides[0].close();
            sides[1].close();
        }
    }

    private String check(Row row, @Nullable CompletionStatus status, byte[] before, TrafficSide server) {
        if (status != row.expected) {
            return "status " + status + ", not " + row.expected;
        }
        if (row.expected == CompletionStatus.SUCCESS) {
            return "";
        }
        if (memory.mismatch(MemorySegment.ofArray(before)) >= 0) {
            return "memory was changed";
        }
        if (isLeaked(row.bytes > REGION_BYTES)) {
            return "memory was leaked";
        }
        return server.queuePair().state() == QueuePairState.ERROR
                ? ""
                : "the server's queue pair is in " + server.queuePair().state();
    }

    /**
     * Returns whether the client has received bytes that it must not see. A READ longer than the region is sent as
     * several requests (decision 004); the client may receive those within the region.
     */
    private boolean isLeaked(boolean mayHaveContent) {
        for (byte each : local.toArray(ValueLayout.JAVA_BYTE)) {
            if (each != CLIENT_CONTENT && !(mayHaveContent && each == CONTENT)) {
                return true;
            }
        }
        return false;
    }
}

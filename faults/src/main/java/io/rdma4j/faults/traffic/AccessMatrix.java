package io.rdma4j.faults.traffic;

import io.rdma4j.faults.process.Parent;
import io.rdma4j.faults.process.Role;
import io.rdma4j.verbs.AccessFlag;
import io.rdma4j.verbs.CompletionStatus;
import io.rdma4j.verbs.MemoryRegion;
import io.rdma4j.verbs.MemoryWindow;
import io.rdma4j.verbs.ProtectionDomain;
import io.rdma4j.verbs.QueuePairState;
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
 * Both sides of one connection after the other, over loopback: a client that reaches for memory of the server in all ways
 * that are wrong, and some that are right. Says {@code rows}, and for each that went otherwise than it must a line in {@code
 * wrong}.
 */
public final class AccessMatrix implements Role {
    private static final int CANARY_BYTES = 64 << 10;
    private static final int REGION_BYTES = 1 << 20;
    private static final byte CANARY = (byte) 0xa5;
    private static final byte CONTENT = 0x11;
    private static final byte OWN = 0x5a;
    private static final Duration STEP = Duration.ofSeconds(5);
    private static final CompletionStatus DENIED = CompletionStatus.REMOTE_ACCESS_ERROR;
    private static final Set<AccessFlag> ALL = Set.of(
            AccessFlag.LOCAL_WRITE,
            AccessFlag.REMOTE_WRITE,
            AccessFlag.REMOTE_READ,
            AccessFlag.REMOTE_ATOMIC,
            AccessFlag.MEMORY_WINDOW_BIND);

    /** What the client may try. */
    private enum Operation {
        WRITE,
        READ,
        FETCH_AND_ADD,
        COMPARE_AND_SWAP;

        SendWorkRequest request(MemoryRegion local, int bytes, long address, int key) {
            SendWorkRequest request = new SendWorkRequest().reset(1).signaled();
            if (bytes > 0) {
                request.from(local, 0, bytes);
            }
            return switch (this) {
                case WRITE -> request.write(address, key);
                case READ -> request.read(address, key);
                case FETCH_AND_ADD -> request.fetchAndAdd(address, key, 1);
                case COMPARE_AND_SWAP -> request.compareAndSwap(address, key, 0, 1);
            };
        }
    }

    /** Makes what a row reaches for, from the server's side and a region of it with all rights. */
    private interface Aim {
        Reach at(TrafficSide server, MemoryRegion region);
    }

    /** Where a row reaches. */
    private record Reach(long address, int key) {}

    private record Row(String name, Operation operation, int bytes, CompletionStatus expected, Aim aim) {}

    private final List<Row> rows = new ArrayList<>();
    private final Arena arena = Arena.ofShared();
    private final MemorySegment memory = arena.allocate(REGION_BYTES + 2L * CANARY_BYTES, 4096);
    private final MemorySegment exposed = memory.asSlice(CANARY_BYTES, REGION_BYTES);
    private final MemorySegment local = arena.allocate(REGION_BYTES + 4096L, 4096);
    private final List<AutoCloseable> made = new ArrayList<>();

    private void row(String name, CompletionStatus expected, int bytes, Aim aim, Operation... operations) {
        for (Operation operation : operations) {
            boolean isAtomic = operation.compareTo(Operation.READ) > 0;
            rows.add(new Row(name + ", " + operation, operation, isAtomic ? Long.BYTES : bytes, expected, aim));
        }
    }

    private static MemoryRegion keep(List<AutoCloseable> list, MemoryRegion region) {
        list.add(region);
        return region;
    }

    private Aim exposedWith(AccessFlag... rights) {
        return (server, region) -> {
            MemoryRegion other = keep(made, server.domain().register(exposed, rights));
            return new Reach(other.address(), other.remoteKey());
        };
    }

    private void fill() {
        Operation[] all = Operation.values();
        Operation[] plain = {Operation.WRITE, Operation.READ};
        CompletionStatus success = CompletionStatus.SUCCESS;
        row("within", success, 64, (s, r) -> new Reach(r.address(), r.remoteKey()), all);
        row("key + 1", DENIED, 64, (s, r) -> new Reach(r.address(), r.remoteKey() + 1), all);
        row("another key index", DENIED, 64, (s, r) -> new Reach(r.address(), r.remoteKey() ^ 0x100), plain);
        row("region that was taken back", DENIED, 64, this::gone, all);
        row("another protection domain", DENIED, 64, this::elsewhere, all);
        row("local rights only", DENIED, 64, exposedWith(AccessFlag.LOCAL_WRITE), all);
        row(
                "read right only",
                DENIED,
                64,
                exposedWith(AccessFlag.LOCAL_WRITE, AccessFlag.REMOTE_READ),
                Operation.WRITE,
                Operation.FETCH_AND_ADD,
                Operation.COMPARE_AND_SWAP);
        row(
                "write right only",
                DENIED,
                64,
                exposedWith(AccessFlag.LOCAL_WRITE, AccessFlag.REMOTE_WRITE),
                Operation.READ,
                Operation.FETCH_AND_ADD);
        row("one byte before", DENIED, 16, (s, r) -> new Reach(r.address() - 1, r.remoteKey()), plain);
        row(
                "eight bytes before",
                DENIED,
                8,
                (s, r) -> new Reach(r.address() - 8, r.remoteKey()),
                Operation.FETCH_AND_ADD,
                Operation.COMPARE_AND_SWAP);
        row("up to the end", success, 16, (s, r) -> new Reach(end(r) - 16, r.remoteKey()), plain);
        row("one byte over the end", DENIED, 16, (s, r) -> new Reach(end(r) - 15, r.remoteKey()), plain);
        row("behind the end", DENIED, 1, (s, r) -> new Reach(end(r) + 1, r.remoteKey()), plain);
        row("atomic at the end", DENIED, 8, (s, r) -> new Reach(end(r), r.remoteKey()), Operation.FETCH_AND_ADD);
        row(
                "longer than the region",
                DENIED,
                REGION_BYTES + 16,
                (s, r) -> new Reach(r.address(), r.remoteKey()),
                plain);
        row("around the end of all addresses", DENIED, 32, (s, r) -> new Reach(-16, r.remoteKey()), plain);
        row("nothing, with a wrong key", success, 0, (s, r) -> new Reach(r.address(), r.remoteKey() + 1), plain);
        row(
                "atomic that is not aligned",
                CompletionStatus.REMOTE_INVALID_REQUEST_ERROR,
                8,
                (s, r) -> new Reach(r.address() + 1, r.remoteKey()),
                Operation.FETCH_AND_ADD,
                Operation.COMPARE_AND_SWAP);
        row("window without a range", DENIED, 64, this::unbound, plain);
        row("window", success, 64, (s, r) -> window(s, r, s), plain);
        row("window of another connection", DENIED, 64, this::boundElsewhere, plain);
        row("window that was taken back", DENIED, 64, this::invalidated, plain);
        row("beside the window", DENIED, 64, this::besideWindow, plain);
        row("old key of a window", DENIED, 64, this::staleWindow, plain);
    }

    private static long end(MemoryRegion region) {
        return region.address() + region.lengthBytes();
    }

    private Reach gone(TrafficSide server, MemoryRegion region) {
        MemoryRegion other = server.domain().register(exposed, ALL);
        other.close();
        return new Reach(other.address(), other.remoteKey());
    }

    private Reach elsewhere(TrafficSide server, MemoryRegion region) {
        ProtectionDomain domain = server.id().verbs().createProtectionDomain();
        made.add(domain);
        MemoryRegion other = keep(made, domain.register(exposed, ALL));
        return new Reach(other.address(), other.remoteKey());
    }

    private Reach unbound(TrafficSide server, MemoryRegion region) {
        MemoryWindow window = server.domain().allocateMemoryWindow(MemoryWindow.Type.TYPE_2);
        made.add(window);
        return new Reach(region.address(), window.remoteKey());
    }

    /** Binds the second 4 KiB of the region to a window, by the queue pair of {@code binder}. */
    private Reach window(TrafficSide server, MemoryRegion region, TrafficSide binder) {
        MemoryWindow window = server.domain().allocateMemoryWindow(MemoryWindow.Type.TYPE_2);
        made.add(window);
        int key = window.nextRemoteKey();
        finish(
                binder,
                new SendWorkRequest()
                        .reset(2)
                        .bind(window, key, region, 4096, 4096, Set.of(AccessFlag.REMOTE_WRITE, AccessFlag.REMOTE_READ))
                        .signaled());
        return new Reach(region.address() + 4096, key);
    }

    private Reach invalidated(TrafficSide server, MemoryRegion region) {
        Reach reach = window(server, region, server);
        finish(server, new SendWorkRequest().reset(3).localInvalidate(reach.key).signaled());
        return reach;
    }

    private Reach besideWindow(TrafficSide server, MemoryRegion region) {
        Reach reach = window(server, region, server);
        return new Reach(reach.address - 32, reach.key);
    }

    private Reach staleWindow(TrafficSide server, MemoryRegion region) {
        Reach reach = window(server, region, server);
        return new Reach(reach.address, reach.key - 1);
    }

    private Reach boundElsewhere(TrafficSide server, MemoryRegion region) {
        TrafficSide[] others = connect();
        made.addAll(List.of(others));
        MemoryRegion same = keep(made, others[1].domain().register(exposed, ALL));
        return window(others[1], same, others[1]);
    }

    private static void finish(TrafficSide side, SendWorkRequest request) {
        WorkCompletion[] batch = WorkCompletion.array(4);
        side.queuePair().postSend(request);
        int count = side.await(batch, STEP);
        if (count != 1 || !batch[0].isSuccess()) {
            throw new IllegalStateException("preparing failed: " + (count == 0 ? "nothing" : batch[0]));
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
            String what = run(row);
            if (!what.isEmpty()) {
                wrong.add(row.name() + ": " + what);
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

    /** What went otherwise than it must, or nothing. */
    private String run(Row row) throws Exception {
        memory.fill(CANARY);
        exposed.fill(CONTENT);
        local.fill(OWN);
        TrafficSide[] sides = connect();
        try {
            TrafficSide server = sides[1];
            MemoryRegion region = keep(made, server.domain().register(exposed, ALL));
            MemoryRegion own = keep(made, sides[0].domain().register(local, AccessFlag.LOCAL_WRITE));
            Reach reach = row.aim.at(server, region);
            byte[] before = memory.toArray(ValueLayout.JAVA_BYTE);
            sides[0].queuePair().postSend(row.operation.request(own, row.bytes, reach.address, reach.key));
            WorkCompletion[] batch = WorkCompletion.array(4);
            int count = sides[0].await(batch, STEP);
            return judge(row, count == 0 ? null : batch[0].status(), before, server);
        } finally {
            for (AutoCloseable each : made.reversed()) {
                each.close();
            }
            made.clear();
            sides[0].close();
            sides[1].close();
        }
    }

    private String judge(Row row, @Nullable CompletionStatus status, byte[] before, TrafficSide server) {
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
     * Whether the client has something that it must not have. A READ that is longer than the region is asked for in pieces
     * (decision 004), and those within the region are the client's right.
     */
    private boolean isLeaked(boolean mayHaveContent) {
        for (byte each : local.toArray(ValueLayout.JAVA_BYTE)) {
            if (each != OWN && !(mayHaveContent && each == CONTENT)) {
                return true;
            }
        }
        return false;
    }
}

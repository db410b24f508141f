package io.rdma4j.acceptance.cases;

import io.rdma4j.acceptance.traffic.VerbsSide;
import io.rdma4j.cm.CmEvent;
import io.rdma4j.cm.CmId;
import io.rdma4j.cm.CmQueuePairAttributes;
import io.rdma4j.cm.ConnectionManager;
import io.rdma4j.cm.ConnectionParameters;
import io.rdma4j.cm.EventChannel;
import io.rdma4j.cm.PortSpace;
import io.rdma4j.verbs.CompletionStatus;
import io.rdma4j.verbs.MemoryRegion;
import io.rdma4j.verbs.QueuePair;
import io.rdma4j.verbs.RemoteMemory;
import io.rdma4j.verbs.WorkCompletion;
import io.rdma4j.verbs.wait.SignalListener;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.ref.Reference;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.time.Duration;
import java.util.List;
import java.util.function.Supplier;

/** A place of {@link ErrorStorm}, and what is thrown there. */
@SuppressWarnings("ImmutableEnumChecker") // the lambdas of the constants capture nothing
enum ErrorCell {
    FILTER_OUT_OF_MEMORY(() -> new OutOfMemoryError("on purpose"), ErrorCell::filter),
    FILTER_STACK_OVERFLOW(() -> new StackOverflowError("on purpose"), ErrorCell::filter),
    FILTER_INTERNAL(() -> new InternalError("on purpose"), ErrorCell::filter),
    FILTER_LINKAGE(() -> new NoClassDefFoundError("on purpose"), ErrorCell::filter),
    FILTER_ASSERTION(() -> new AssertionError("on purpose"), ErrorCell::filter),
    LISTENER_OUT_OF_MEMORY(() -> new OutOfMemoryError("on purpose"), ErrorCell::listener),
    LISTENER_STACK_OVERFLOW(() -> new StackOverflowError("on purpose"), ErrorCell::listener),
    LISTENER_INTERNAL(() -> new InternalError("on purpose"), ErrorCell::listener),
    LISTENER_LINKAGE(() -> new NoClassDefFoundError("on purpose"), ErrorCell::listener),
    LISTENER_ASSERTION(() -> new AssertionError("on purpose"), ErrorCell::listener),
    TRUNCATED_FILE(() -> new InternalError("of the virtual machine"), (_, _) -> truncatedFile()),
    SMALL_STACK(() -> new StackOverflowError("of the virtual machine"), (stage, _) -> smallStack(stage)),
    FULL_HEAP(() -> new OutOfMemoryError("of the virtual machine"), (stage, _) -> fullHeap(stage));

    private static final InetAddress ADDRESS = InetAddress.getLoopbackAddress();
    private static final Duration LIMIT = Duration.ofSeconds(30);
    private static final int FILE_BYTES = 8192;
    private static final int STACK_BYTES = 192 * 1024;
    private static final int TRIES = 40;
    private static final int CHUNK_BYTES = 1 << 20;

    /** The action of a cell. */
    private interface Action {
        /** Returns what was wrong about the culprit's outcome, or an empty text. */
        String run(Stage stage, Supplier<Error> fault) throws Exception;
    }

    /** The objects that the cells of a process share. */
    static final class Stage implements AutoCloseable {
        private final Bystander bystander;
        private final EventChannel channel = ConnectionManager.ofProcess().openEventChannel();
        private final CmId listener = channel.createId(PortSpace.TCP);

        Stage(Bystander bystander) {
            this.bystander = bystander;
            listener.bindAddress(new InetSocketAddress(ADDRESS, 0));
            listener.listen(8);
        }

        @Override
        public void close() {
            listener.close();
            channel.close();
        }
    }

    private final Supplier<Error> fault;
    private final Action action;

    ErrorCell(Supplier<Error> fault, Action action) {
        this.fault = fault;
        this.action = action;
    }

    String run(Stage stage) throws Exception {
        return action.run(stage, fault);
    }

    private static CmEvent.Type next(EventChannel channel) {
        CmEvent event = channel.await(LIMIT);
        if (event == null) {
            throw new IllegalStateException("no event in " + LIMIT);
        }
        event.acknowledge();
        return event.type();
    }

    private static String expected(Object wanted, Object found) {
        return wanted.equals(found) ? "" : found + " instead of " + wanted;
    }

    private static String filter(Stage stage, Supplier<Error> fault) {
        stage.listener.setAccessFilter(attempt -> {
            throw fault.get();
        });
        try (EventChannel channel = ConnectionManager.ofProcess().openEventChannel();
                CmId id = channel.createId(PortSpace.TCP)) {
            id.resolveAddress(stage.listener.localAddress(), LIMIT);
            var _ = next(channel);
            id.resolveRoute(LIMIT);
            var _ = next(channel);
            id.createQueuePair(CmQueuePairAttributes.defaults());
            id.connect(ConnectionParameters.defaults());
            return expected(CmEvent.Type.REJECTED, next(channel));
        }
    }

    private static String listener(Stage stage, Supplier<Error> fault) {
        SignalListener failing = () -> {
            throw fault.get();
        };
        try (EventChannel channel = ConnectionManager.ofProcess().openEventChannel();
                CmId id = channel.createId(PortSpace.TCP)) {
            channel.signal().add(failing);
            id.resolveAddress(stage.listener.localAddress(), LIMIT);
            return expected(CmEvent.Type.ADDRESS_RESOLVED, next(channel));
        }
    }

    private static String truncatedFile() throws IOException {
        Path path = Files.createTempFile("storm", "");
        try (VerbsSide a = new VerbsSide(ADDRESS, 16, 0);
                VerbsSide b = new VerbsSide(ADDRESS, 16, 0);
                FileChannel file = FileChannel.open(path, StandardOpenOption.READ, StandardOpenOption.WRITE)) {
            QueuePair from = a.queuePair(4, 1);
            QueuePair to = b.queuePair(4, 1);
            VerbsSide.connect(a, from, b, to);
            MemorySegment mapped = file.map(FileChannel.MapMode.READ_WRITE, 0, FILE_BYTES, Arena.ofAuto());
            MemoryRegion target = b.domain().register(mapped, VerbsSide.ALL);
            MemoryRegion source = a.domain().register(Arena.ofAuto().allocate(64, 8), VerbsSide.ALL);
            RemoteMemory remote = new RemoteMemory(target.address(), target.remoteKey(), FILE_BYTES);
            CompletionStatus status = CompletionStatus.SUCCESS;
            for (int i = 0; i < TRIES && status == CompletionStatus.SUCCESS; i++) {
                if (i == TRIES / 2) {
                    file.truncate(0);
                }
                from.postWrite(i, source, 0, 8, remote);
                status = a.await(LIMIT).status();
            }
            return expected(CompletionStatus.REMOTE_ACCESS_ERROR, status);
        } finally {
            Files.delete(path);
        }
    }

    /** Fills a stack, and calls an entry of the device in each frame that returns. */
    private static final class Overflow implements Runnable {
        private final Runnable entry;
        private int left = TRIES;

        Overflow(Runnable entry) {
            this.entry = entry;
        }

        @Override
        @SuppressWarnings("InfiniteRecursion") // on purpose
        public void run() {
            try {
                run();
            } catch (StackOverflowError full) {
                tryEntry();
            }
        }

        private void tryEntry() {
            if (--left >= 0) {
                entry.run(); // throws to the frame above, which has a little more stack
            }
        }
    }

    private static String smallStack(Stage stage) throws InterruptedException {
        try (VerbsSide a = new VerbsSide(ADDRESS, 16, 0);
                VerbsSide b = new VerbsSide(ADDRESS, 16, 0)) {
            QueuePair from = a.queuePair(4, 1);
            QueuePair to = b.queuePair(4, 1);
            VerbsSide.connect(a, from, b, to);
            MemoryRegion region = a.domain().register(Arena.ofAuto().allocate(64, 8), VerbsSide.ALL);
            MemoryRegion target = b.domain().register(Arena.ofAuto().allocate(64, 8), VerbsSide.ALL);
            RemoteMemory remote = new RemoteMemory(target.address(), target.remoteKey(), 8);
            List<Runnable> entries = List.of(
                    () -> from.postWrite(1, region, 0, 8, remote),
                    () -> a.completions().poll(WorkCompletion.array(1)),
                    () -> a.queuePair(1, 1).close(),
                    () -> stage.channel.await(Duration.ofNanos(1)),
                    from::state);
            for (Runnable entry : entries) {
                Thread thread = new Thread(null, new Overflow(entry), "small", STACK_BYTES);
                thread.setUncaughtExceptionHandler(
                        (of, thrown) -> {}); // the last frame may overflow, or the queue be full
                thread.start();
                thread.join(LIMIT.toMillis());
                if (thread.isAlive()) {
                    return "a thread hangs";
                }
            }
            return "";
        }
    }

    private static String fullHeap(Stage stage) {
        Object[] held = {};
        for (int bytes = CHUNK_BYTES; bytes > 64; ) {
            try {
                held = new Object[] {held, new byte[bytes]};
            } catch (OutOfMemoryError full) {
                bytes /= 2;
            }
        }
        try {
            stage.bystander.check();
        } catch (OutOfMemoryError ofThisThread) {
            // This thread may run out of memory. What the device's threads do then shows when the memory is free again.
            return "";
        } finally {
            Reference.reachabilityFence(held);
        }
        return "";
    }
}

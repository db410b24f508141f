package io.rdma4j.acceptance.cases;

import io.rdma4j.acceptance.traffic.VerbsSide;
import io.rdma4j.cm.CmEvent;
import io.rdma4j.cm.CmId;
import io.rdma4j.cm.ConnectionManager;
import io.rdma4j.cm.ConnectionParameters;
import io.rdma4j.cm.EventChannel;
import io.rdma4j.value.CompletionStatus;
import io.rdma4j.value.PortSpace;
import io.rdma4j.verbs.CompletionChannel;
import io.rdma4j.verbs.MemoryRegion;
import io.rdma4j.verbs.QueuePair;
import io.rdma4j.verbs.QueuePairInitAttributes;
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
import java.util.ArrayList;
import java.util.List;
import java.util.function.Supplier;

/**
 * A place in {@link ErrorStorm}, and the errors that are thrown there.
 *
 * <p>The table has each thread that runs code of all connections, with the kinds of errors that can occur in it.
 * "Callback" is each kind of error, thrown by the program's code that the thread calls. "Memory" is the
 * {@link InternalError} of a page of a truncated file and of a page for which a disk has no room, as the source and as
 * the target of a WRITE.
 *
 * <table>
 * <caption>Cells</caption>
 * <tr><th>thread</th><th>callback</th><th>memory</th><th>small stack</th><th>full heap</th></tr>
 * <tr><td>of the program, posts</td><td>{@link #signal}</td><td>{@link #memory}</td><td>{@link #smallStack}</td><td>{@link #fullHeap}</td></tr>
 * <tr><td>of the program, polls</td><td>the same</td><td>the same</td><td>the same</td><td>the same</td></tr>
 * <tr><td>of the program, waits</td><td>the same</td><td>the same</td><td>the same</td><td>{@link #fullHeap}</td></tr>
 * <tr><td>of an engine</td><td>the same, {@link #filter}, {@link #listener}</td><td>the same</td><td>none</td><td>the same</td></tr>
 * </table>
 *
 * <p>The combinations without a cell cannot occur, or are tested elsewhere:
 *
 * <ul>
 * <li>The threads that send reports and scan addresses and interfaces call no code of the program except listeners of
 * signals, access no memory of the program, and have stacks of a fixed size. Unit tests throw errors there. A full heap
 * also has no cell there: addresses are scanned only every three seconds, and {@code ReportServerTest} requests reports
 * while the heap is full.
 *   <li>The same holds for the stack of an engine's thread. A listener can still throw a {@link StackOverflowError}.
 * <li>A class of the library is missing only if the library is incomplete, so {@link LinkageError}s come from
 * callbacks.
 * <li>An access filter or the listener of a signal accesses pages of a full disk or a truncated file only if the
 * program does so: that is an {@link InternalError} of a callback.
 * </ul>
 *
 * @param name the name in reports
 * @param action returns the errors in the culprit's outcome, or an empty text
 */
record ErrorCell(String name, Action action) {
    private static final InetAddress ADDRESS = InetAddress.getLoopbackAddress();
    private static final Duration LIMIT = Duration.ofSeconds(30);
    private static final int FILE_BYTES = 8192;
    private static final int STACK_BYTES = 192 * 1024;
    private static final int TRIES = 40;
    private static final int CHUNK_BYTES = 1 << 20;

    /** The action of a cell. */
    interface Action {
        /** Returns what was wrong about the culprit's outcome, or an empty text. */
        String run(Stage stage) throws Exception;
    }

    /** The errors that a callback throws. */
    @SuppressWarnings("ImmutableEnumChecker") // the lambdas of the constants capture nothing
    private enum Kind {
        OUT_OF_MEMORY(() -> new OutOfMemoryError("on purpose")),
        STACK_OVERFLOW(() -> new StackOverflowError("on purpose")),
        INTERNAL(() -> new InternalError("on purpose")),
        LINKAGE(() -> new NoClassDefFoundError("on purpose")),
        ASSERTION(() -> new AssertionError("on purpose"));

        private final Supplier<Error> fault;

        Kind(Supplier<Error> fault) {
            this.fault = fault;
        }
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

    /**
     * Returns all cells.
     *
     * @param disk a folder on a full file system; empty if there is none
     */
    static List<ErrorCell> all(String disk) {
        List<ErrorCell> cells = new ArrayList<>();
        for (Kind kind : Kind.values()) {
            cells.add(new ErrorCell("access filter, " + kind, stage -> filter(stage, kind.fault)));
            cells.add(
                    new ErrorCell("listener of the connection manager, " + kind, stage -> listener(stage, kind.fault)));
        }
        for (ErrorPair.Entry entry : ErrorPair.Entry.values()) {
            for (Kind kind : Kind.values()) {
                cells.add(new ErrorCell(
                        "listener of completions, " + kind + ", " + entry, _ -> signal(entry, kind.fault)));
            }
            for (boolean isSource : new boolean[] {false, true}) {
                String place = (isSource ? "source, " : "target, ") + entry;
                cells.add(new ErrorCell("truncated file, " + place, _ -> memory(entry, isSource, "")));
                if (!disk.isEmpty()) {
                    cells.add(new ErrorCell("full disk, " + place, _ -> memory(entry, isSource, disk)));
                }
            }
        }
        cells.add(new ErrorCell("small stack", ErrorCell::smallStack));
        cells.add(new ErrorCell("full heap", ErrorCell::fullHeap));
        return cells;
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
            id.createQueuePair(QueuePairInitAttributes.defaults());
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

    private static String signal(ErrorPair.Entry entry, Supplier<Error> fault) throws InterruptedException {
        try (ErrorPair pair = new ErrorPair(ErrorPair.memory(), ErrorPair.memory())) {
            return expected(CompletionStatus.SUCCESS, pair.writeWithFailingListener(entry, fault));
        }
    }

    /** Writes from or to a file of which no page can be accessed. A file on a full disk is sparse; another one is truncated after a WRITE. */
    private static String memory(ErrorPair.Entry entry, boolean isSource, String disk)
            throws IOException, InterruptedException {
        Path path = disk.isEmpty() ? Files.createTempFile("storm", "") : Path.of(disk, "sparse");
        try (FileChannel file =
                FileChannel.open(path, StandardOpenOption.CREATE, StandardOpenOption.READ, StandardOpenOption.WRITE)) {
            MemorySegment mapped = file.map(FileChannel.MapMode.READ_WRITE, 0, FILE_BYTES, Arena.ofAuto());
            try (ErrorPair pair =
                    isSource ? new ErrorPair(mapped, ErrorPair.memory()) : new ErrorPair(ErrorPair.memory(), mapped)) {
                if (disk.isEmpty()) {
                    CompletionStatus before = pair.write(entry);
                    if (before != CompletionStatus.SUCCESS) {
                        return before + " before the file is truncated";
                    }
                    file.truncate(0);
                }
                return expected(
                        isSource ? CompletionStatus.LOCAL_PROTECTION_ERROR : CompletionStatus.REMOTE_ACCESS_ERROR,
                        pair.write(entry));
            }
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
            CompletionChannel channel = a.context().createCompletionChannel();
            List<Runnable> entries = List.of(
                    () -> from.postWrite(1, region, 0, 8, target.remote()),
                    () -> a.completions().poll(WorkCompletion.array(1)),
                    () -> a.queuePair(1, 1).close(),
                    () -> stage.channel.await(Duration.ofNanos(1)),
                    () -> channel.await(Duration.ofNanos(1)),
                    from::state);
            for (Runnable entry : entries) {
                Thread thread = new Thread(null, new Overflow(entry), "small", STACK_BYTES);
                thread.setUncaughtExceptionHandler(
                        (of, thrown) -> {}); // the last frame may overflow, or the queue may be full
                thread.start();
                thread.join(LIMIT.toMillis());
                if (thread.isAlive()) {
                    return "a thread hangs";
                }
            }
            return "";
        }
    }

    /** The work of a cell while the heap is full. */
    private interface Starved {
        void run() throws Exception;
    }

    /** Fills the heap once for all actions, since its collections take most of the time of a round. */
    private static void withFullHeap(Starved... actions) throws Exception {
        Object[] held = {};
        for (int bytes = CHUNK_BYTES; bytes > 64; ) {
            try {
                held = new Object[] {held, new byte[bytes]};
            } catch (OutOfMemoryError full) {
                bytes /= 8;
            }
        }
        try {
            for (Starved action : actions) {
                tryTo(action);
            }
        } finally {
            Reference.reachabilityFence(held);
        }
    }

    /** Does work in which this thread may run out of memory. The cell checks the device's threads when the memory is free again. */
    private static void tryTo(Starved action) throws Exception {
        try {
            action.run();
        } catch (OutOfMemoryError ofThisThread) {
            return;
        }
    }

    /** Posts, polls and waits while the heap is full, and again afterwards. */
    private static String fullHeap(Stage stage) throws Exception {
        try (ErrorPair pair = new ErrorPair(ErrorPair.memory(), ErrorPair.memory())) {
            withFullHeap(stage.bystander::check, () -> pair.write(ErrorPair.Entry.WAIT));
        }
        try (ErrorPair pair = new ErrorPair(ErrorPair.memory(), ErrorPair.memory())) {
            return expected(CompletionStatus.SUCCESS, pair.write(ErrorPair.Entry.WAIT));
        }
    }
}

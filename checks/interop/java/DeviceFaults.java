import io.rdma4j.cm.CmId;
import io.rdma4j.cm.ConnectionManager;
import io.rdma4j.cm.ConnectionParameters;
import io.rdma4j.value.AccessFlag;
import io.rdma4j.verbs.AsyncEvent;
import io.rdma4j.verbs.DeviceContext;
import io.rdma4j.verbs.MemoryRegion;
import io.rdma4j.verbs.QueuePair;
import io.rdma4j.verbs.QueuePairInitAttributes;
import io.rdma4j.verbs.RdmaException;
import io.rdma4j.verbs.RemoteMemory;
import io.rdma4j.verbs.TransportType;
import io.rdma4j.verbs.WorkCompletion;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;

/**
 * What an RDMA device does to a program: both ends of the connections are in this process, at one address of the device.
 *
 * <ul>
 *   <li>{@code connections ADDRESS COUNT} opens so many connections, eight at a time, writes over each, and closes it.
 *   <li>{@code arena ADDRESS} closes arenas with registered memory while the peer writes to it.
 *   <li>{@code command ADDRESS COMMAND} writes while a shell runs a command, until the connection ends.
 * </ul>
 *
 * <p>Prints a line for whatever happens, the last one with the open descriptors before and after. Ends with 0, or with 1 and a
 * line that begins with WRONG.
 */
public final class DeviceFaults {
    private static final int REGION_BYTES = 4096;
    private static final int BATCH = 8;
    private static final Duration LOOK = Duration.ofMillis(200);

    /** The end of writes that the device did not complete. */
    private static final String STOPPED = "stopped after an event";

    private static final long LIMIT_SECONDS = 60;

    private final InetAddress address;
    private boolean failed;

    private DeviceFaults(InetAddress address) {
        this.address = address;
    }

    public static void main(String[] words) throws InterruptedException {
        DeviceFaults faults = new DeviceFaults(InetAddress.ofLiteral(words[1]));
        faults.openConnections(BATCH); // so that all that a process has once is there
        long before = descriptors();
        switch (words[0]) {
            case "connections" -> faults.openConnections(Integer.parseInt(words[2]));
            case "arena" -> faults.closeArenas();
            case "command" -> faults.writeDuring(words[2]);
            default -> throw new IllegalArgumentException(words[0]);
        }
        long after = descriptors();
        say("DESCRIPTORS before=" + before + " after=" + after);
        if (after > before) {
            faults.wrong("descriptors are left open");
        }
        System.exit(faults.failed ? 1 : 0);
    }

    private static synchronized void say(String text) {
        System.out.println(text);
    }

    private void wrong(String text) {
        failed = true;
        say("WRONG " + text);
    }

    private static long descriptors() {
        try (Stream<Path> open = Files.list(Path.of("/proc/self/fd"))) {
            return open.count();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** A connection of this process with itself. */
    private final class Pair implements AutoCloseable {
        final CmId client;
        final CmId server;
        final Arena serverArena = Arena.ofShared();
        final Arena clientArena = Arena.ofShared();
        final MemoryRegion target;
        final MemoryRegion source;
        final QueuePair writer;

        Pair(CmId listener) throws InterruptedException {
            MemorySegment memory = serverArena.allocate(REGION_BYTES, REGION_BYTES);
            BlockingQueue<Object> accepted = new ArrayBlockingQueue<>(2);
            Thread.ofPlatform().daemon().start(() -> {
                CmId request = listener.getRequest();
                MemoryRegion region = request.protectionDomain()
                        .register(memory, AccessFlag.LOCAL_WRITE, AccessFlag.REMOTE_READ, AccessFlag.REMOTE_WRITE);
                accepted.add(request);
                accepted.add(region);
                request.accept(ConnectionParameters.defaults()
                        .withPrivateData(region.remote().encode()));
            });
            client = ConnectionManager.ofProcess()
                    .connect(new InetSocketAddress(address, listener.sourcePort()), QueuePairInitAttributes.defaults());
            server = (CmId) accepted.take();
            target = (MemoryRegion) accepted.take();
            writer = Objects.requireNonNull(client.queuePair());
            source = client.protectionDomain()
                    .register(clientArena.allocate(REGION_BYTES, REGION_BYTES), AccessFlag.LOCAL_WRITE);
        }

        void write(long number) {
            source.memory().set(ValueLayout.JAVA_LONG, 0, number);
            writer.postWrite(number, source, 0, REGION_BYTES, RemoteMemory.decode(client.peerPrivateData()));
            WorkCompletion[] one = WorkCompletion.array(1);
            writer.sendCompletions().await(one);
            if (!one[0].isSuccess()) {
                throw new IllegalStateException(one[0].toString());
            }
        }

        long written() {
            return target.memory().get(ValueLayout.JAVA_LONG, 0);
        }

        /** Closes what is still open. */
        @Override
        public void close() {
            source.close();
            client.close();
            target.close();
            server.close();
            if (serverArena.scope().isAlive()) {
                serverArena.close();
            }
            clientArena.close();
        }
    }

    private CmId listen() {
        return ConnectionManager.ofProcess().listen(new InetSocketAddress(address, 0), QueuePairInitAttributes.defaults());
    }

    // ---- connections

    private void openConnections(int count) throws InterruptedException {
        long startNanos = System.nanoTime();
        int opened = 0;
        try (CmId listener = listen()) {
            List<Pair> pairs = new ArrayList<>();
            while (opened < count) {
                Pair pair = new Pair(listener);
                pairs.add(pair);
                opened++;
                pair.write(opened);
                if (pair.written() != opened) {
                    wrong("connection " + opened + " carried " + pair.written());
                }
                if (pairs.size() == BATCH || opened == count) {
                    pairs.forEach(DeviceFaults::disconnect);
                    pairs.forEach(Pair::close);
                    pairs.clear();
                }
            }
        }
        say("CONNECTIONS " + opened + " in " + (System.nanoTime() - startNanos) / 1_000_000 + " ms");
    }

    /** The client's call lasts until the server answers, which closing it does. */
    private static void disconnect(Pair pair) {
        Thread server = Thread.ofPlatform().start(() -> {
            pair.server.awaitDisconnect();
            pair.target.close();
            pair.server.close();
        });
        pair.client.disconnect();
        try {
            server.join();
        } catch (InterruptedException e) {
            throw new IllegalStateException(e);
        }
    }

    // ---- arenas

    /** An arena stays open until its region is closed; then the peer's writes fail, and the memory belongs to the program again. */
    private void closeArenas() throws InterruptedException {
        try (CmId listener = listen();
                Pair pair = new Pair(listener)) {
            CountDownLatch written = new CountDownLatch(1);
            BlockingQueue<String> end = new ArrayBlockingQueue<>(1);
            CountDownLatch ended = new CountDownLatch(1);
            Thread.ofPlatform().daemon().start(() -> {
                String _ = outcome(pair.server::awaitDisconnect);
                ended.countDown();
            });
            Thread writer = Thread.ofPlatform().start(() -> end.add(writeUntil(pair, written, ended)));
            written.await();
            try {
                pair.serverArena.close();
                wrong("the arena was closed under the peer's writes");
            } catch (IllegalStateException refused) {
                say("ARENA refused: " + refused.getMessage());
            }
            if (!end.isEmpty()) {
                wrong("the refused close has ended the writes");
            }
            try {
                pair.clientArena.close();
                wrong("the arena was closed under the own writes");
            } catch (IllegalStateException refused) {
                say("ARENA refused: " + refused.getMessage());
            }
            pair.target.close();
            pair.serverArena.close();
            say("ARENA closed");
            String reason = end.poll(LIMIT_SECONDS, TimeUnit.SECONDS);
            say("WRITES " + reason);
            // iWARP completes a write before the peer has checked it, and the refusal ends the connection.
            boolean isIwarp = pair.client.verbs().device().transportType() == TransportType.IWARP;
            String expected = isIwarp ? "WORK_REQUEST_FLUSHED_ERROR" : "REMOTE_ACCESS_ERROR";
            boolean isStopped = isIwarp && STOPPED.equals(reason);
            if (reason == null || !reason.contains(expected) && !isStopped) {
                wrong("writes to closed memory ended otherwise than by " + expected);
            }
            writer.join();
        }
    }

    // ---- a command

    /** Writes until an event or a failed write ends the connection, and closes everything then. */
    private void writeDuring(String command) throws InterruptedException {
        try (CmId listener = listen();
                Pair pair = new Pair(listener)) {
            DeviceContext context = pair.client.verbs();
            Thread events = Thread.ofPlatform().start(() -> printEvents(context));
            CountDownLatch ended = new CountDownLatch(1);
            Thread.ofPlatform().daemon().start(() -> {
                say("SERVER " + outcome(pair.server::awaitDisconnect));
                ended.countDown();
                pair.target.close();
                pair.server.close();
            });
            Thread.ofPlatform().start(() -> run(command));
            say("WRITES " + writeUntil(pair, new CountDownLatch(1), ended));
            say("CLIENT " + outcome(pair.client::disconnect));
            if (!ended.await(LIMIT_SECONDS, TimeUnit.SECONDS)) {
                wrong("no event has told the server that the connection ended");
            }
            events.interrupt();
            events.join();
        }
        say("CLOSED");
    }

    /**
     * Writes until a write fails, or until the server has had an event and a write does not complete: siw completes none after the
     * connection has ended.
     */
    private static String writeUntil(Pair pair, CountDownLatch written, CountDownLatch ended) {
        RemoteMemory target = RemoteMemory.decode(pair.client.peerPrivateData());
        WorkCompletion[] one = WorkCompletion.array(1);
        try {
            for (long number = 0; ; number++) {
                pair.writer.postWrite(number, pair.source, 0, REGION_BYTES, target);
                while (pair.writer.sendCompletions().await(one, LOOK) == 0) {
                    if (ended.getCount() == 0) {
                        return STOPPED;
                    }
                }
                if (!one[0].isSuccess()) {
                    return one[0].status() + " after " + number;
                }
                written.countDown();
            }
        } catch (RdmaException failure) {
            return failure.getMessage();
        }
    }

    private static String outcome(Runnable call) {
        try {
            call.run();
            return "disconnected";
        } catch (RdmaException failure) {
            return failure.getMessage();
        }
    }

    private static void printEvents(DeviceContext context) {
        try {
            while (!Thread.currentThread().isInterrupted()) {
                AsyncEvent event = context.takeAsyncEvent(LOOK);
                if (event != null) {
                    say("ASYNC " + event.type());
                    context.acknowledge(event);
                }
            }
        } catch (RdmaException ended) {
            say("ASYNC ends: " + ended.getMessage());
        }
    }

    private static void run(String command) {
        try {
            int status =
                    new ProcessBuilder("sh", "-c", command).inheritIO().start().waitFor();
            say("COMMAND ended with " + status);
        } catch (IOException | InterruptedException e) {
            throw new IllegalStateException(e);
        }
    }
}

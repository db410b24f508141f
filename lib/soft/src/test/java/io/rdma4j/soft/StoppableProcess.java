package io.rdma4j.soft;

import io.rdma4j.cm.CmId;
import io.rdma4j.cm.ConnectionManager;
import io.rdma4j.cm.ConnectionParameters;
import io.rdma4j.value.AccessFlag;
import io.rdma4j.value.PortSpace;
import io.rdma4j.verbs.MemoryRegion;
import io.rdma4j.verbs.QueuePair;
import io.rdma4j.verbs.QueuePairInitAttributes;
import io.rdma4j.verbs.RdmaException;
import io.rdma4j.verbs.RemoteMemory;
import io.rdma4j.verbs.WorkCompletion;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;

/**
 * A process that listens, and connects to others, commanded by lines on its standard input.
 *
 * <p>The commands are {@code dial NAME ADDRESS PORT} to connect, and write without end; {@code count NAME} for the number of
 * writes and the failure, if there was one; {@code ended} for the number of accepted connections that have ended.
 */
public final class StoppableProcess {
    private static final Duration TIMEOUT = Duration.ofSeconds(10);
    private static final int BYTES = 64;

    /** The writes of a connection. */
    private static final class Writes {
        private final AtomicLong count = new AtomicLong();
        private volatile String failure = "-";
    }

    private static final Map<String, Writes> CONNECTIONS = new ConcurrentHashMap<>();
    private static final AtomicInteger ENDED = new AtomicInteger();

    private StoppableProcess() {}

    /** Runs the process; the argument is the local address. */
    public static void main(String[] arguments) throws IOException {
        String address = arguments[0];
        CmId listener = ConnectionManager.ofProcess()
                .listen(new InetSocketAddress(address, 0), QueuePairInitAttributes.defaults());
        Thread.ofPlatform().daemon().start(() -> accept(listener));
        say("listening " + listener.sourcePort());
        BufferedReader input = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        for (String line = input.readLine(); line != null; line = input.readLine()) {
            String[] words = line.split(" ", -1);
            switch (words[0]) {
                case "dial" -> dial(address, words[1], words[2], Integer.parseInt(words[3]));
                case "count" -> {
                    Writes writes = CONNECTIONS.get(words[1]);
                    say(writes == null ? "count 0 none" : "count " + writes.count + " " + writes.failure);
                }
                case "ended" -> say("ended " + ENDED.get());
                default -> say("unknown " + line);
            }
        }
    }

    private static void accept(CmId listener) {
        while (true) {
            CmId request = listener.getRequest();
            Thread.ofPlatform().daemon().start(() -> serve(request));
        }
    }

    private static void serve(CmId request) {
        try (CmId connection = request;
                MemoryRegion region = connection
                        .protectionDomain()
                        .register(memory(), AccessFlag.LOCAL_WRITE, AccessFlag.REMOTE_WRITE)) {
            connection.accept(ConnectionParameters.defaults()
                    .withPrivateData(region.remote().encode()));
            connection.awaitDisconnect();
        }
        ENDED.incrementAndGet();
    }

    private static MemorySegment memory() {
        return Arena.ofAuto().allocate(BYTES, 8);
    }

    private static void dial(String from, String name, String to, int port) {
        CmId id = CmId.create(PortSpace.TCP);
        try {
            id.bindAddress(new InetSocketAddress(from, 0));
            id.resolveAddress(new InetSocketAddress(to, port), TIMEOUT);
            id.resolveRoute(TIMEOUT);
            id.createQueuePair(QueuePairInitAttributes.defaults());
            id.connect(ConnectionParameters.defaults());
        } catch (RdmaException e) {
            say("failed " + e.getMessage());
            return;
        }
        Writes writes = new Writes();
        CONNECTIONS.put(name, writes);
        Thread.ofPlatform().daemon().start(() -> write(id, writes));
        say("dialed");
    }

    private static void write(CmId id, Writes writes) {
        MemoryRegion region = id.protectionDomain().register(memory());
        RemoteMemory remote = RemoteMemory.decode(id.peerPrivateData());
        QueuePair queuePair = Objects.requireNonNull(id.queuePair());
        WorkCompletion[] one = WorkCompletion.array(1);
        try {
            while (true) {
                queuePair.postWrite(0, region, 0, BYTES, remote);
                queuePair.sendCompletions().await(one);
                if (!one[0].isSuccess()) {
                    writes.failure = one[0].status().name();
                    return;
                }
                writes.count.incrementAndGet();
                Thread.sleep(1);
            }
        } catch (RdmaException | InterruptedException e) {
            writes.failure = e.getClass().getSimpleName();
        }
    }

    private static synchronized void say(String line) {
        System.out.println(line);
    }
}

package io.rdma4j.acceptance.traffic;

import io.rdma4j.cm.CmEvent;
import io.rdma4j.cm.CmId;
import io.rdma4j.cm.ConnectionParameters;
import io.rdma4j.cm.EventChannel;
import io.rdma4j.value.AccessFlag;
import io.rdma4j.value.PortSpace;
import io.rdma4j.verbs.CompletionChannel;
import io.rdma4j.verbs.CompletionQueue;
import io.rdma4j.verbs.MemoryRegion;
import io.rdma4j.verbs.ProtectionDomain;
import io.rdma4j.verbs.QueuePair;
import io.rdma4j.verbs.QueuePairCapabilities;
import io.rdma4j.verbs.QueuePairInitAttributes;
import io.rdma4j.verbs.ReceiveWorkRequest;
import io.rdma4j.verbs.RemoteMemory;
import io.rdma4j.verbs.WorkCompletion;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.Map;
import java.util.Objects;
import java.util.TreeMap;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * One side of a reliable connection, with a completion queue and a memory region that the peer may access. The sides
 * exchange address and key of their regions in the private data. Not thread safe.
 */
public final class TrafficSide implements AutoCloseable {
    private static final Duration STEP = Duration.ofSeconds(20);

    /**
     * The sizes and retry parameters of a side.
     *
     * @param sends capacity of the send queue, in work requests
     * @param receives capacity of the receive queue, in work requests
     * @param regionBytes size of the memory region
     * @param ackTimeout exponent of the local ACK timeout, which is 4.096 µs times 2 to its power
     * @param retries retry count, 0 to 7
     * @param receiverNotReadyRetries RNR retry count, 0 to 7; 7 retries indefinitely
     * @param file an existing file of the size of the region, which is the memory of the region and outlives the process; null
     *     for other memory
     */
    public record Shape(
            int sends,
            int receives,
            long regionBytes,
            int ackTimeout,
            int retries,
            int receiverNotReadyRetries,
            @Nullable Path file) {
        /** Returns a shape with a local ACK timeout of 67 ms and both retry counts 7. */
        public static Shape of(int sends, int receives, long regionBytes) {
            return new Shape(sends, receives, regionBytes, 14, 7, 7, null);
        }

        /** Returns a copy with another local ACK timeout. */
        public Shape withAckTimeout(int exponent) {
            return new Shape(sends, receives, regionBytes, exponent, retries, receiverNotReadyRetries, file);
        }

        /** Returns a copy with other retry counts. */
        public Shape withRetries(int count, int receiverNotReady) {
            return new Shape(sends, receives, regionBytes, ackTimeout, count, receiverNotReady, file);
        }

        /** Returns a copy whose region is a mapped file. */
        public Shape in(Path mapped) {
            return new Shape(sends, receives, regionBytes, ackTimeout, retries, receiverNotReadyRetries, mapped);
        }

        private MemorySegment allocate(Arena arena) {
            return file == null ? arena.allocate(regionBytes, 4096) : MappedFile.map(file, arena);
        }
    }

    /** A listener for connections. */
    public static final class Listener implements AutoCloseable {
        private final CmId id;

        /** Listens on {@code address}; port 0 lets the system choose one. */
        public Listener(InetSocketAddress address, int backlog) {
            id = CmId.create(PortSpace.TCP);
            id.bindAddress(address);
            id.listen(backlog);
        }

        /** Returns the port. */
        public int port() {
            return id.sourcePort();
        }

        /** Returns the number of packets that this process has dropped so far because of a wrong ICRC. */
        public long icrcErrors() {
            return TrafficSide.icrcErrors(id);
        }

        /** Waits for a connection request. */
        public Request request() {
            return new Request(id.getRequest());
        }

        /** Waits for a connection request and accepts it. */
        public TrafficSide accept(Shape shape) {
            return request().accept(shape, newSide -> {});
        }

        @Override
        public void close() {
            id.close();
        }
    }

    /** A connection request. */
    public static final class Request {
        private final CmId peer;

        private Request(CmId peer) {
            this.peer = peer;
        }

        /**
         * Accepts the request. {@code prepare} is called before the peer can send, to post receives.
         *
         * @throws io.rdma4j.verbs.RdmaException if the peer has disconnected meanwhile; all resources are then freed
         */
        public TrafficSide accept(Shape shape, Consumer<TrafficSide> prepare) {
            byte[] privateData = privateData(peer);
            TrafficSide side = new TrafficSide(peer, shape);
            try {
                side.setRemoteMemory(privateData);
                prepare.accept(side);
                peer.accept(side.parameters());
                return side;
            } catch (RuntimeException e) {
                side.close();
                throw e;
            }
        }
    }

    private final Deque<AutoCloseable> resources = new ArrayDeque<>();
    private final Shape shape;
    private final CmId id;
    private final ProtectionDomain domain;
    private final CompletionChannel channel;
    private final CompletionQueue completions;
    private final ReceiveWorkRequest receive = new ReceiveWorkRequest();
    private final MemoryRegion region;
    private final QueuePair queuePair;
    private long remoteAddress;
    private int remoteKey;
    private long remoteBytes;
    private @Nullable EventChannel events;
    private boolean ended;

    private TrafficSide(CmId id, Shape shape) {
        this.id = id;
        this.shape = shape;
        resources.push(id);
        id.setAckTimeout(shape.ackTimeout());
        domain = keep(id.verbs().createProtectionDomain());
        channel = keep(id.verbs().createCompletionChannel());
        completions = keep(id.verbs().createCompletionQueue(shape.sends() + shape.receives() + 1, channel));
        Arena arena = Arena.ofShared();
        resources.push(arena);
        region = keep(domain.register(
                shape.allocate(arena),
                AccessFlag.LOCAL_WRITE,
                AccessFlag.REMOTE_WRITE,
                AccessFlag.REMOTE_READ,
                AccessFlag.REMOTE_ATOMIC));
        queuePair = id.createQueuePair(
                domain,
                QueuePairInitAttributes.reliable(
                        completions, new QueuePairCapabilities(shape.sends(), shape.receives(), 1, 1, 0)));
        resources.push(id::destroyQueuePair);
    }

    private <T extends AutoCloseable> T keep(T object) {
        resources.push(object);
        return object;
    }

    /**
     * Connects.
     *
     * @throws io.rdma4j.verbs.RdmaException if connecting fails
     */
    public static TrafficSide connect(InetSocketAddress source, InetSocketAddress destination, Shape shape) {
        return connect(source, destination, shape, side -> {});
    }

    /**
     * Connects. {@code prepare} is called before the peer can send, to post receives.
     *
     * @throws io.rdma4j.verbs.RdmaException if connecting fails; all resources are then freed
     */
    public static TrafficSide connect(
            InetSocketAddress source, InetSocketAddress destination, Shape shape, Consumer<TrafficSide> prepare) {
        CmId id = CmId.create(PortSpace.TCP);
        TrafficSide side;
        try {
            id.resolveAddress(source, destination, STEP);
            id.resolveRoute(STEP);
            side = new TrafficSide(id, shape);
        } catch (RuntimeException e) {
            id.close();
            throw e;
        }
        try {
            prepare.accept(side);
            id.connect(side.parameters());
            side.setRemoteMemory(privateData(id));
            return side;
        } catch (RuntimeException e) {
            side.close();
            throw e;
        }
    }

    private ConnectionParameters parameters() {
        ByteBuffer privateData = ByteBuffer.allocate(20);
        privateData.putLong(region.address()).putInt(region.remoteKey()).putLong(region.lengthBytes());
        return ConnectionParameters.defaults()
                .withRetries(shape.retries(), shape.receiverNotReadyRetries())
                .withPrivateData(privateData.array());
    }

    private static byte[] privateData(CmId id) {
        CmEvent event = Objects.requireNonNull(id.event(), "a connection without an event");
        return event.privateData();
    }

    private void setRemoteMemory(byte[] privateData) {
        ByteBuffer fields = ByteBuffer.wrap(privateData);
        remoteAddress = fields.getLong();
        remoteKey = fields.getInt();
        remoteBytes = fields.getLong();
    }

    /** Returns the identifier. */
    public CmId id() {
        return id;
    }

    /** Returns the protection domain. */
    public ProtectionDomain domain() {
        return domain;
    }

    /** Returns the queue pair. */
    public QueuePair queuePair() {
        return queuePair;
    }

    /** Returns the memory region of this side. */
    public MemoryRegion region() {
        return region;
    }

    /** Returns the completion queue of both queues. */
    public CompletionQueue completions() {
        return completions;
    }

    /** Returns the peer's memory. */
    public RemoteMemory remote() {
        return new RemoteMemory(remoteAddress, remoteKey, remoteBytes);
    }

    /** Returns the address of the peer's memory. */
    public long remoteAddress() {
        return remoteAddress;
    }

    /** Returns the remote key of the peer's memory. */
    public int remoteKey() {
        return remoteKey;
    }

    /** Returns the size of the peer's memory. */
    public long remoteBytes() {
        return remoteBytes;
    }

    /**
     * Waits up to {@code limit} for completions.
     *
     * @return the number of completions in {@code batch}, or 0 if there are none
     */
    public int await(WorkCompletion[] batch, Duration limit) {
        long deadline = System.nanoTime() + limit.toNanos();
        while (true) {
            int count = completions.poll(batch);
            if (count == 0) {
                completions.requestNotification(false);
                count = completions.poll(batch);
            }
            long left = deadline - System.nanoTime();
            if (count > 0 || left <= 0) {
                return count;
            }
            if (channel.await(Duration.ofNanos(left)) != null) {
                completions.acknowledgeEvents(1);
            }
        }
    }

    /** Posts a receive into a part of the region. */
    public void postReceive(long receiveId, long offsetBytes, long lengthBytes) {
        queuePair.postReceive(receive.reset(receiveId).into(region, offsetBytes, lengthBytes));
    }

    /** Describes a failed queue pair: the completion and its counters so far. */
    public String failure(WorkCompletion completion) {
        return completion + ", " + counted();
    }

    /** Describes a queue pair that reports no completions. */
    public String silence(Duration lasted) {
        return "no completion for " + lasted.toSeconds() + " s, " + queuePair.state() + ", " + counted();
    }

    /** Returns the non-zero counters of the queue pair. */
    public Map<String, Long> counted() {
        Map<String, Long> counted = new TreeMap<>(queuePair.counters());
        counted.values().removeIf(count -> count == 0);
        return counted;
    }

    /** Returns the number of packets that this process has dropped so far because of a wrong ICRC. */
    public long icrcErrors() {
        return icrcErrors(id);
    }

    private static long icrcErrors(CmId id) {
        return id.verbs().counters().getOrDefault("process_icrc_err", -1L);
    }

    /** Returns the event channel of the connection, which the first call opens. */
    public EventChannel events() {
        if (events == null) {
            EventChannel opened = EventChannel.open();
            id.migrate(opened);
            resources.addLast(opened); // closed last, after the identifier
            events = opened;
        }
        return events;
    }

    /** Returns whether the peer has disconnected or the connection has failed. */
    public boolean hasEnded() {
        try (@Nullable CmEvent event = events().poll()) {
            ended |= event != null && event.type() == CmEvent.Type.DISCONNECTED;
            return ended;
        }
    }

    /** Frees all resources. */
    @Override
    public void close() {
        while (!resources.isEmpty()) {
            try {
                resources.pop().close();
            } catch (Exception e) {
                throw new IllegalStateException("closing failed", e);
            }
        }
    }
}

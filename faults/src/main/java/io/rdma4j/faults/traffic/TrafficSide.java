package io.rdma4j.faults.traffic;

import io.rdma4j.cm.CmEvent;
import io.rdma4j.cm.CmId;
import io.rdma4j.cm.CmQueuePairAttributes;
import io.rdma4j.cm.ConnectionParameters;
import io.rdma4j.cm.EventChannel;
import io.rdma4j.cm.PortSpace;
import io.rdma4j.verbs.AccessFlag;
import io.rdma4j.verbs.CompletionChannel;
import io.rdma4j.verbs.CompletionQueue;
import io.rdma4j.verbs.MemoryRegion;
import io.rdma4j.verbs.ProtectionDomain;
import io.rdma4j.verbs.QueuePair;
import io.rdma4j.verbs.QueuePairCapabilities;
import io.rdma4j.verbs.QueuePairInitAttributes;
import io.rdma4j.verbs.ReceiveWorkRequest;
import io.rdma4j.verbs.WorkCompletion;
import java.lang.foreign.Arena;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.Map;
import java.util.Objects;
import java.util.TreeMap;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * One side of a reliable connection, with a completion queue of its own and a region of memory that the other side may
 * use; the sides tell each other address and key in the private data of connecting. Not thread safe.
 */
public final class TrafficSide implements AutoCloseable {
    private static final Duration STEP = Duration.ofSeconds(20);

    /**
     * Sizes and patience of a side.
     *
     * @param sends send queue, in work requests
     * @param receives receive queue, in work requests
     * @param regionBytes memory
     * @param ackTimeout exponent of the local ACK timeout, 4.096 µs times 2 to its power
     * @param retries retry count, 0 to 7
     * @param receiverNotReadyRetries the same for receivers without a receive request; 7 is for ever
     */
    public record Shape(
            int sends, int receives, long regionBytes, int ackTimeout, int retries, int receiverNotReadyRetries) {
        /** A shape with a local ACK timeout of 67 ms, and 7 for both counts. */
        public static Shape of(int sends, int receives, long regionBytes) {
            return new Shape(sends, receives, regionBytes, 14, 7, 7);
        }

        /** The same with another timeout. */
        public Shape withAckTimeout(int exponent) {
            return new Shape(sends, receives, regionBytes, exponent, retries, receiverNotReadyRetries);
        }

        /** The same with other counts. */
        public Shape withRetries(int count, int receiverNotReady) {
            return new Shape(sends, receives, regionBytes, ackTimeout, count, receiverNotReady);
        }
    }

    /** Waits for connections. */
    public static final class Listener implements AutoCloseable {
        private final CmId id;

        /** Listens at {@code address}; port 0 lets the system choose one. */
        public Listener(InetSocketAddress address, int backlog) {
            id = CmId.create(PortSpace.TCP, null);
            id.bindAddress(address);
            id.listen(backlog);
        }

        /** The port. */
        public int port() {
            return id.sourcePort();
        }

        /** How many packets this process has dropped so far because of a wrong ICRC. */
        public long icrcErrors() {
            return TrafficSide.icrcErrors(id);
        }

        /** Waits for somebody who wants to connect. */
        public Request request() {
            return new Request(id.getRequest());
        }

        /** Waits for somebody who wants to connect, and accepts. */
        public TrafficSide accept(Shape shape) {
            return request().accept(shape, fresh -> {});
        }

        @Override
        public void close() {
            id.close();
        }
    }

    /** Somebody who wants to connect. */
    public static final class Request {
        private final CmId peer;

        private Request(CmId peer) {
            this.peer = peer;
        }

        /**
         * Accepts; {@code prepare} is called before the peer can send: to post receives.
         *
         * @throws io.rdma4j.verbs.RdmaException if the peer is gone meanwhile; nothing is left then
         */
        public TrafficSide accept(Shape shape, Consumer<TrafficSide> prepare) {
            byte[] greeting = greeting(peer);
            TrafficSide side = new TrafficSide(peer, shape);
            try {
                side.meet(greeting);
                prepare.accept(side);
                peer.accept(side.parameters());
                return side;
            } catch (RuntimeException e) {
                side.close();
                throw e;
            }
        }
    }

    private final Deque<AutoCloseable> made = new ArrayDeque<>();
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
        made.push(id);
        id.setAckTimeout(shape.ackTimeout());
        domain = keep(id.verbs().createProtectionDomain());
        channel = keep(id.verbs().createCompletionChannel());
        completions = keep(id.verbs().createCompletionQueue(shape.sends() + shape.receives() + 1, null, channel));
        Arena arena = Arena.ofShared();
        made.push(arena);
        region = keep(domain.register(
                arena.allocate(shape.regionBytes(), 4096),
                AccessFlag.LOCAL_WRITE,
                AccessFlag.REMOTE_WRITE,
                AccessFlag.REMOTE_READ,
                AccessFlag.REMOTE_ATOMIC));
        queuePair = id.createQueuePair(
                domain,
                CmQueuePairAttributes.of(QueuePairInitAttributes.reliable(
                        completions, new QueuePairCapabilities(shape.sends(), shape.receives(), 1, 1, 0))));
        made.push(id::destroyQueuePair);
    }

    private <T extends AutoCloseable> T keep(T object) {
        made.push(object);
        return object;
    }

    /**
     * Connects.
     *
     * @throws io.rdma4j.verbs.RdmaException if that fails
     */
    public static TrafficSide connect(InetSocketAddress source, InetSocketAddress destination, Shape shape) {
        return connect(source, destination, shape, side -> {});
    }

    /**
     * The same; {@code prepare} is called before the peer can send: to post receives.
     *
     * @throws io.rdma4j.verbs.RdmaException if that fails; nothing is left then
     */
    public static TrafficSide connect(
            InetSocketAddress source, InetSocketAddress destination, Shape shape, Consumer<TrafficSide> prepare) {
        CmId id = CmId.create(PortSpace.TCP, null);
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
            side.meet(greeting(id));
            return side;
        } catch (RuntimeException e) {
            side.close();
            throw e;
        }
    }

    private ConnectionParameters parameters() {
        ByteBuffer greeting = ByteBuffer.allocate(20);
        greeting.putLong(region.address()).putInt(region.remoteKey()).putLong(region.lengthBytes());
        return ConnectionParameters.defaults()
                .withRetries(shape.retries(), shape.receiverNotReadyRetries())
                .withPrivateData(greeting.array());
    }

    private static byte[] greeting(CmId id) {
        CmEvent event = Objects.requireNonNull(id.event(), "a connection without an event");
        return event.privateData();
    }

    private void meet(byte[] greeting) {
        ByteBuffer words = ByteBuffer.wrap(greeting);
        remoteAddress = words.getLong();
        remoteKey = words.getInt();
        remoteBytes = words.getLong();
    }

    /** The identifier. */
    public CmId id() {
        return id;
    }

    /** The protection domain. */
    public ProtectionDomain domain() {
        return domain;
    }

    /** The queue pair. */
    public QueuePair queuePair() {
        return queuePair;
    }

    /** Memory of this side. */
    public MemoryRegion region() {
        return region;
    }

    /** Completions of both queues. */
    public CompletionQueue completions() {
        return completions;
    }

    /** Where the other side's memory is. */
    public long remoteAddress() {
        return remoteAddress;
    }

    /** Key of the other side's memory. */
    public int remoteKey() {
        return remoteKey;
    }

    /** Size of the other side's memory. */
    public long remoteBytes() {
        return remoteBytes;
    }

    /**
     * Waits until there are completions, for {@code limit} at most.
     *
     * @return how many there are in {@code batch}, 0 if none came
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

    /** What a queue pair that has failed tells: the completion, and what was counted until then. */
    public String failure(WorkCompletion completion) {
        return completion + ", " + counted();
    }

    /** The same for one that says nothing any more. */
    public String silence(Duration lasted) {
        return "nothing for " + lasted.toSeconds() + " s, " + queuePair.state() + ", " + counted();
    }

    /** What the queue pair has counted so far, without what has not happened. */
    public Map<String, Long> counted() {
        Map<String, Long> counted = new TreeMap<>(queuePair.counters());
        counted.values().removeIf(count -> count == 0);
        return counted;
    }

    /** How many packets this process has dropped so far because of a wrong ICRC. */
    public long icrcErrors() {
        return icrcErrors(id);
    }

    private static long icrcErrors(CmId id) {
        return id.verbs().counters().getOrDefault("process_icrc_err", -1L);
    }

    /** What happens to the connection from the first call on, or before it and after it was made. */
    public EventChannel events() {
        if (events == null) {
            EventChannel opened = EventChannel.open();
            id.migrate(opened);
            made.addLast(opened); // closed last, after the identifier
            events = opened;
        }
        return events;
    }

    /** Whether the peer has left, or the connection was given up. */
    public boolean hasEnded() {
        try (@Nullable CmEvent event = events().poll()) {
            ended |= event != null && event.type() == CmEvent.Type.DISCONNECTED;
            return ended;
        }
    }

    /** Gives up all that it made. */
    @Override
    public void close() {
        while (!made.isEmpty()) {
            try {
                made.pop().close();
            } catch (Exception e) {
                throw new IllegalStateException("closing failed", e);
            }
        }
    }
}

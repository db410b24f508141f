package io.rdma4j.simulator;

import io.rdma4j.simulator.network.SimulatedHost;
import io.rdma4j.sockets.stream.StreamMemory;
import io.rdma4j.sockets.stream.StreamProtocol;
import io.rdma4j.transport.MemoryRegion;
import io.rdma4j.transport.QueuePairMachine;
import io.rdma4j.value.AccessFlag;
import io.rdma4j.wire.rsocket.BufferDescriptor;
import io.rdma4j.wire.rsocket.ConnectData;
import io.rdma4j.wire.rsocket.MappingEntry;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.util.ArrayDeque;
import java.util.Arrays;
import java.util.SplittableRandom;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;

/**
 * One side of a stream in a run: an application that writes, reads and shuts down, and the expected results.
 *
 * <p>The value of each byte depends on its position in the stream, so order and integrity are checked when it is read.
 * The credit and the space in the peer's buffer are checked when a message is posted, against the number of bytes that
 * the peer's application has read.
 */
final class StreamSide implements ConnectedSide {
    private static final int MAPPED_BYTES = 700;
    private static final long MAPPED_OFFSET = 5_000;
    private static final int[] MAX_CHUNK_BYTES = {2, 50, 3_000};
    private static final int MAX_READ_BYTES = 3_000;
    private static final int[] READ_INTERVALS = {2, 20};
    private static final int MAX_WRITES = 300;
    private static final int MAX_ROUNDS = 100;

    /** The keep-alive interval; far shorter than the time within which a peer's death must be detected. */
    private static final long KEEP_ALIVE_NANOS = 50_000_000;

    /** The ways in which a side ends the stream. */
    private enum Ending {
        /** Shuts down its output when it has sent everything, and reads to the end of the peer's stream. */
        HALF_CLOSE,
        /** Disconnects when it has sent everything, regardless of the data that the peer still sends. */
        DISCONNECT
    }

    private final String name;
    private final SplittableRandom random;
    private final StreamParameters parameters;
    private final SimulatedHost host;
    final StreamQueuePair queuePair;
    final StreamProtocol protocol;
    final StreamMemory memory;
    private final Ending ending;
    private final int maxChunkBytes;
    private final int readInterval;
    private final int planned;
    private final byte[] mapped = new byte[MAPPED_BYTES];
    private final MemoryRegion mappedRegion;

    /** The expected content of the peer's mapped memory at the end. */
    private final byte[] mappedModel = new byte[MAPPED_BYTES];

    private final BooleanSupplier mayBreak;
    private final int startingPsn;
    private StreamSide peer = this;
    private boolean started;
    private long written;
    private long read;
    private long postedBytes;
    private final ArrayDeque<Integer> unreadMessages = new ArrayDeque<>();
    private int readOfFirst;
    private boolean mappingPublished;
    private long lastKeepAliveNanos;
    private boolean hasDisconnected;
    private boolean killed;
    private boolean closed;
    private boolean peerDisconnected;

    /**
     * Creates a side.
     *
     * @param mayBreak returns whether the stream may break without an action of this side; called at the end of the run
     */
    StreamSide(
            String name,
            SimulatedHost host,
            StreamParameters parameters,
            BooleanSupplier mayBreak,
            SplittableRandom random) {
        this.name = name;
        this.mayBreak = mayBreak;
        startingPsn = ConnectedSide.startingPsn(random);
        this.host = host;
        this.parameters = parameters;
        this.random = random;
        ending = random.nextInt(4) == 0 ? Ending.DISCONNECT : Ending.HALF_CLOSE;
        maxChunkBytes = MAX_CHUNK_BYTES[random.nextInt(MAX_CHUNK_BYTES.length)];
        readInterval = READ_INTERVALS[random.nextInt(READ_INTERVALS.length)];
        int max = Math.min(MAX_WRITES * maxChunkBytes, MAX_ROUNDS * parameters.maxBufferBytes());
        planned = random.nextInt(Math.min(parameters.maxBytes(), max) + 1);
        queuePair =
                new StreamQueuePair(host, parameters.sizes(random), parameters.hasImmediate(), random.split(), this);
        protocol = queuePair.protocol();
        memory = queuePair.memory();
        mappedRegion = host.memory()
                .register(
                        MemorySegment.ofArray(mapped),
                        random.nextLong() & 0x7fff_ffff_ffff_f000L,
                        AccessFlag.LOCAL_WRITE.bit() | AccessFlag.REMOTE_WRITE.bit(),
                        1);
    }

    @Override
    public String name() {
        return name;
    }

    @Override
    public SimulatedHost host() {
        return host;
    }

    @Override
    public QueuePairMachine machine() {
        return queuePair.machine();
    }

    @Override
    public ConnectionTerms terms() {
        return new ConnectionTerms(
                host.addressHigh(), host.addressLow(), machine().number(), startingPsn, 0);
    }

    @Override
    public byte[] connectData() {
        return protocol.connectData().toByteArray();
    }

    @Override
    public void setPeer(ConnectedSide other) {
        peer = (StreamSide) other;
    }

    @Override
    public void ready(ConnectionTerms other, byte[] connectData, int mtuBytes) {
        queuePair.ready(other, mtuBytes, startingPsn);
        ConnectData data = ConnectData.parse(connectData);
        require(data != null && protocol.onPeer(data), "the peer's connection data was refused");
    }

    @Override
    public void start() {
        started = true;
        protocol.start();
    }

    @Override
    public boolean hasReceived() {
        return queuePair.hasReceived();
    }

    // ---- calls of the queue pair

    /** Called when data for the peer is posted. The peer must have granted the message and freed the space. */
    void onPosted(int bytes, long remoteAddress, int remoteKey) {
        if (remoteKey != peer.memory.receiveKey() || bytes == 0 || peer.hasDisconnected) {
            return; // a peer that has disconnected discards the data
        }
        int ring = peer.queuePair.sizes().receiveBufferBytes();
        require(
                remoteAddress == peer.memory.receiveAddress() + postedBytes % ring,
                "data is not written to the peer's next buffer position");
        require(postedBytes % ring + bytes <= ring, "data is written beyond the end of the peer's buffer");
        postedBytes += bytes;
        require(postedBytes - peer.read <= ring, "data overwrites bytes that the peer has not read");
        unreadMessages.add(bytes);
        require(
                unreadMessages.size() <= peer.queuePair.sizes().receiveQueue(),
                "more messages than the peer has granted");
    }

    private void onPeerRead(int count) {
        int unassigned = count + readOfFirst;
        while (!unreadMessages.isEmpty() && unreadMessages.element() <= unassigned) {
            unassigned -= unreadMessages.remove();
        }
        readOfFirst = unassigned;
    }

    // ---- the application

    @Override
    public void work(long nowNanos) {
        if (killed || closed || !started) {
            return;
        }
        if (random.nextInt(3) != 0) {
            queuePair.progress(random.nextInt(1, 20));
        }
        publishMapping();
        if (random.nextBoolean()) {
            write();
        }
        if (random.nextInt(readInterval) == 0) {
            read();
        }
        if (nowNanos - lastKeepAliveNanos >= KEEP_ALIVE_NANOS) {
            protocol.keepAlive();
            lastKeepAliveNanos = nowNanos;
        }
        if (written == planned) {
            finish();
        }
        closed = isAtEnd() && protocol.isQuiet();
        if (closed) {
            host.remove(queuePair.machine());
        }
    }

    private void publishMapping() {
        if (!mappingPublished && parameters.maps()) {
            mappingPublished = true;
            BufferDescriptor descriptor =
                    new BufferDescriptor(mappedRegion.address(), mappedRegion.key(), MAPPED_BYTES);
            require(protocol.map(new MappingEntry(MAPPED_OFFSET, descriptor)) == 0, "no space for a mapping");
        }
    }

    private void write() {
        if (parameters.maps() && random.nextInt(4) == 0) {
            writeMapped();
        }
        int length = (int) Math.min(random.nextInt(maxChunkBytes) + 1, planned - written);
        ByteBuffer source = ByteBuffer.wrap(bytes(written, length));
        int count = protocol.write(source);
        require(count == source.position(), "write has consumed more or fewer bytes than it reports");
        written += count;
    }

    private void writeMapped() {
        int offset = random.nextInt(MAPPED_BYTES);
        byte[] piece = new byte[random.nextInt(MAPPED_BYTES - offset)];
        random.nextBytes(piece);
        int count = protocol.writeMapped(ByteBuffer.wrap(piece), MAPPED_OFFSET + offset);
        System.arraycopy(piece, 0, mappedModel, offset, Math.max(count, 0));
    }

    private void read() {
        ByteBuffer target =
                ByteBuffer.allocate(random.nextInt(random.nextBoolean() ? maxChunkBytes : MAX_READ_BYTES) + 1);
        if (random.nextInt(8) == 0) {
            int peeked = protocol.peek(target);
            checkBytes(target.flip(), peeked);
            target.clear();
        }
        int count = protocol.read(target);
        checkBytes(target.flip(), count);
        read += count;
        peer.onPeerRead(count);
    }

    private void checkBytes(ByteBuffer got, int count) {
        require(got.equals(ByteBuffer.wrap(peer.bytes(read, count))), "wrong bytes at position " + read);
        require(read + count <= peer.written, "more bytes than were written");
    }

    /** Returns bytes of this side's stream. */
    private byte[] bytes(long from, int length) {
        byte[] bytes = new byte[length];
        for (int i = 0; i < length; i++) {
            long position = from + i;
            bytes[i] = (byte)
                    (position * 31 + (position >> 8) * 7 + queuePair.machine().number());
        }
        return bytes;
    }

    private void finish() {
        if (ending == Ending.DISCONNECT) {
            hasDisconnected = true;
            protocol.disconnect();
        } else {
            protocol.shutdownOutput();
        }
    }

    private boolean isAtEnd() {
        return !protocol.isOpen() && protocol.availableBytes() == 0;
    }

    // ---- the end

    @Override
    public void kill() {
        killed = true;
        host.remove(queuePair.machine());
    }

    /** Called when the connection manager has reported the peer's disconnect. */
    @Override
    public void end() {
        if (peerDisconnected) {
            return;
        }
        peerDisconnected = true;
        closed |= !started;
        queuePair.progress(Integer.MAX_VALUE);
        protocol.onDisconnected();
        queuePair.machine().toError();
        queuePair.progress(Integer.MAX_VALUE);
    }

    @Override
    public boolean isKilled() {
        return killed;
    }

    /** Returns whether the application has closed the stream. */
    @Override
    public boolean isClosed() {
        return closed;
    }

    @Override
    public boolean isDone() {
        return closed;
    }

    @Override
    public boolean isComplete() {
        return written == planned;
    }

    @Override
    public boolean wantsToEnd() {
        return closed;
    }

    boolean isBroken() {
        return protocol.failure() != null;
    }

    // ---- final checks

    @Override
    public void checkEnd() {
        if (killed) {
            return;
        }
        String reason = protocol.failure();
        boolean bothStarted = started && peer.started;
        require(reason == null || hasReason(reason, bothStarted), "broken without a reason: " + reason);
        require(protocol.isQuiet(), "requests without completion");
        boolean bothEndedRegularly =
                bothStarted && !peer.killed && !peer.isBroken() && !peer.queuePair.retriesExceeded() && !isBroken();
        if (bothEndedRegularly && ending != Ending.DISCONNECT) {
            require(read == peer.written, "read " + read + " of " + peer.written + " bytes that the peer wrote");
            require(
                    peer.ending == Ending.DISCONNECT || peer.written == peer.planned,
                    "the peer could not write all planned bytes");
            if (parameters.maps() && !isIncomplete() && !peer.isIncomplete()) {
                require(Arrays.equals(mapped, peer.mappedModel), "mapped memory differs from what was written");
            }
        }
        host.memory().deregister(mappedRegion);
        queuePair.close();
    }

    /**
     * Returns whether a broken stream has a valid reason. Even without loss, a stream that was refused or whose peer
     * never started ends without the peer's shutdown.
     */
    private boolean hasReason(String reason, boolean bothStarted) {
        boolean isReset = reason.contains("had not ended its output");
        return isReset && !bothStarted
                || mayBreak.getAsBoolean() && (isReset || reason.contains("could not be delivered"));
    }

    private boolean isIncomplete() {
        return written < planned;
    }

    @Override
    public String toString() {
        return name + (closed ? " closed" : "") + " wrote " + written + " of " + planned + ", read " + read + ", "
                + (protocol.isOpen() ? "open" : "broken: " + protocol.failure()) + ", quiet " + protocol.isQuiet()
                + ", readable " + protocol.availableBytes() + ", queue pair "
                + queuePair.machine().state();
    }

    private void require(boolean condition, @Nullable String message) {
        check(condition, name + ": " + message);
    }

    private static void check(boolean condition, String message) {
        if (!condition) {
            throw new SimulationFailure(message);
        }
    }
}

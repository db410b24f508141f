package io.rdma4j.testkit.simulation;

import io.rdma4j.sockets.stream.StreamMemory;
import io.rdma4j.sockets.stream.StreamProtocol;
import io.rdma4j.testkit.SimulatedHost;
import io.rdma4j.transport.AccessFlags;
import io.rdma4j.transport.MemoryRegion;
import io.rdma4j.transport.QueuePairMachine;
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
 * One side of a stream in a run: an application that writes, reads and shuts down when it pleases, and the ledger that says
 * what must have come of it. Every byte tells its place in the stream, so order and integrity are checked when it is read;
 * credit and room in the peer's buffer are checked when a message is posted, against what the peer's application has read.
 */
final class StreamSide implements ConnectedSide {
    private static final int MAPPED_BYTES = 700;
    private static final long MAPPED_OFFSET = 5_000;
    private static final int[] MOST_AT_ONCE = {2, 50, 3_000};
    private static final int MOST_READ = 3_000;
    private static final int[] LAZINESS = {2, 20};
    private static final int MOST_WRITES = 300;
    private static final int MOST_ROUNDS = 100;

    /** Longest that a side goes without a sign of life; far below what a dead peer may take to be found out. */
    private static final long KEEP_ALIVE_NANOS = 50_000_000;

    /** How a side means to end the stream. */
    private enum Ending {
        /** Says that it sends no more when it has sent all, and reads to the peer's end. */
        HALF_CLOSE,
        /** Goes when it has sent all, whatever the peer may still send. */
        LEAVE
    }

    private final String name;
    private final SplittableRandom random;
    private final StreamParameters parameters;
    private final SimulatedHost host;
    final StreamQueuePair queuePair;
    final StreamProtocol protocol;
    final StreamMemory memory;
    private final Ending ending;
    private final int mostAtOnce;
    private final int laziness;
    private final int planned;
    private final byte[] mapped = new byte[MAPPED_BYTES];
    private final MemoryRegion mappedRegion;

    /** What the peer's mapped memory must hold in the end. */
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
    private boolean mappingTold;
    private long lastSign;
    private boolean hasLeft;
    private boolean dead;
    private boolean gone;
    private boolean isCut;

    /**
     * Creates a side.
     *
     * @param mayBreak whether the stream may break by itself; asked when everything is over
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
        ending = random.nextInt(4) == 0 ? Ending.LEAVE : Ending.HALF_CLOSE;
        mostAtOnce = MOST_AT_ONCE[random.nextInt(MOST_AT_ONCE.length)];
        laziness = LAZINESS[random.nextInt(LAZINESS.length)];
        int most = Math.min(MOST_WRITES * mostAtOnce, MOST_ROUNDS * parameters.mostBufferBytes());
        planned = random.nextInt(Math.min(parameters.mostBytes(), most) + 1);
        queuePair =
                new StreamQueuePair(host, parameters.sizes(random), parameters.hasImmediate(), random.split(), this);
        protocol = queuePair.protocol();
        memory = queuePair.memory();
        mappedRegion = host.memory()
                .register(
                        MemorySegment.ofArray(mapped),
                        random.nextLong() & 0x7fff_ffff_ffff_f000L,
                        AccessFlags.LOCAL_WRITE | AccessFlags.REMOTE_WRITE,
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
    public byte[] greeting() {
        return protocol.connectData().toByteArray();
    }

    @Override
    public void meet(ConnectedSide other) {
        peer = (StreamSide) other;
    }

    @Override
    public void ready(ConnectionTerms other, byte[] greeting, int mtuBytes) {
        queuePair.ready(other, mtuBytes, startingPsn);
        ConnectData data = ConnectData.parse(greeting);
        require(data != null && protocol.onPeer(data), "the peer's connection data are refused");
    }

    @Override
    public void start() {
        started = true;
        protocol.start();
    }

    @Override
    public boolean hasHeard() {
        return queuePair.hasHeard();
    }

    // ---- what the queue pair tells

    /** Data for the peer are posted: the peer must have granted the message, and freed the room. */
    void onPosted(int bytes, long remoteAddress, int remoteKey) {
        if (remoteKey != peer.memory.receiveKey() || bytes == 0 || peer.hasLeft) {
            return; // who has left throws away what comes
        }
        int ring = peer.queuePair.sizes().receiveBufferBytes();
        require(
                remoteAddress == peer.memory.receiveAddress() + postedBytes % ring,
                "data go elsewhere than where the peer reads on");
        require(postedBytes % ring + bytes <= ring, "data go beyond the end of the peer's buffer");
        postedBytes += bytes;
        require(postedBytes - peer.read <= ring, "data go where the peer has not read");
        unreadMessages.add(bytes);
        require(
                unreadMessages.size() <= peer.queuePair.sizes().receiveQueue(),
                "a message more than the peer has granted");
    }

    private void onPeerRead(int count) {
        int left = count + readOfFirst;
        while (!unreadMessages.isEmpty() && unreadMessages.element() <= left) {
            left -= unreadMessages.remove();
        }
        readOfFirst = left;
    }

    // ---- the application

    @Override
    public void work(long nowNanos) {
        if (dead || gone || !started) {
            return;
        }
        if (random.nextInt(3) != 0) {
            queuePair.progress(random.nextInt(1, 20));
        }
        tellMapping();
        if (random.nextBoolean()) {
            write();
        }
        if (random.nextInt(laziness) == 0) {
            read();
        }
        if (nowNanos - lastSign >= KEEP_ALIVE_NANOS) {
            protocol.keepAlive();
            lastSign = nowNanos;
        }
        if (written == planned) {
            finish();
        }
        gone = isAtEnd() && protocol.isQuiet();
        if (gone) {
            host.remove(queuePair.machine());
        }
    }

    private void tellMapping() {
        if (!mappingTold && parameters.maps()) {
            mappingTold = true;
            BufferDescriptor where = new BufferDescriptor(mappedRegion.address(), mappedRegion.key(), MAPPED_BYTES);
            require(protocol.map(new MappingEntry(MAPPED_OFFSET, where)) == 0, "no place for a mapping");
        }
    }

    private void write() {
        if (parameters.maps() && random.nextInt(4) == 0) {
            writeMapped();
        }
        int length = (int) Math.min(random.nextInt(mostAtOnce) + 1, planned - written);
        ByteBuffer source = ByteBuffer.wrap(bytes(written, length));
        int count = protocol.write(source);
        require(count == source.position(), "write has taken more or less than it says");
        written += count;
    }

    private void writeMapped() {
        int at = random.nextInt(MAPPED_BYTES);
        byte[] piece = new byte[random.nextInt(MAPPED_BYTES - at)];
        random.nextBytes(piece);
        int count = protocol.writeMapped(ByteBuffer.wrap(piece), MAPPED_OFFSET + at);
        System.arraycopy(piece, 0, mappedModel, at, Math.max(count, 0));
    }

    private void read() {
        ByteBuffer target = ByteBuffer.allocate(random.nextInt(random.nextBoolean() ? mostAtOnce : MOST_READ) + 1);
        if (random.nextInt(8) == 0) {
            int seen = protocol.peek(target);
            checkBytes(target.flip(), seen);
            target.clear();
        }
        int count = protocol.read(target);
        checkBytes(target.flip(), count);
        read += count;
        peer.onPeerRead(count);
    }

    private void checkBytes(ByteBuffer got, int count) {
        require(got.equals(ByteBuffer.wrap(peer.bytes(read, count))), "wrong bytes at place " + read);
        require(read + count <= peer.written, "more bytes than were written");
    }

    /** Bytes of this side's stream. */
    private byte[] bytes(long from, int length) {
        byte[] bytes = new byte[length];
        for (int i = 0; i < length; i++) {
            long place = from + i;
            bytes[i] =
                    (byte) (place * 31 + (place >> 8) * 7 + queuePair.machine().number());
        }
        return bytes;
    }

    private void finish() {
        if (ending == Ending.LEAVE) {
            hasLeft = true;
            protocol.disconnect();
        } else {
            protocol.shutdownOutput();
        }
    }

    private boolean isAtEnd() {
        return !protocol.isOpen() && protocol.availableBytes() == 0;
    }

    // ---- what happens to it

    @Override
    public void die() {
        dead = true;
        host.remove(queuePair.machine());
    }

    /** The connection manager has heard that the peer has gone. */
    @Override
    public void end() {
        if (isCut) {
            return;
        }
        isCut = true;
        gone |= !started;
        queuePair.progress(Integer.MAX_VALUE);
        protocol.onDisconnected();
        queuePair.machine().toError();
        queuePair.progress(Integer.MAX_VALUE);
    }

    @Override
    public boolean isDead() {
        return dead;
    }

    /** Whether it has closed the stream. */
    @Override
    public boolean isGone() {
        return gone;
    }

    @Override
    public boolean isDone() {
        return gone;
    }

    @Override
    public boolean isComplete() {
        return written == planned;
    }

    @Override
    public boolean wantsToEnd() {
        return gone;
    }

    boolean isBroken() {
        return protocol.isBroken() != null;
    }

    // ---- what must hold in the end

    @Override
    public void checkEnd() {
        if (dead) {
            return;
        }
        String why = protocol.isBroken();
        boolean wasJoined = started && peer.started;
        require(why == null || hasReason(why, wasJoined), "broken without a reason: " + why);
        require(protocol.isQuiet(), "requests without completion");
        boolean peerHadItsSay =
                wasJoined && !peer.dead && !peer.isBroken() && !peer.queuePair.hasGivenUp() && !isBroken();
        if (peerHadItsSay && ending != Ending.LEAVE) {
            require(read == peer.written, "read " + read + " of " + peer.written + " bytes that the peer wrote");
            require(
                    peer.ending == Ending.LEAVE || peer.written == peer.planned,
                    "the peer could not write all that it meant to");
            if (parameters.maps() && !gaveUp() && !peer.gaveUp()) {
                require(Arrays.equals(mapped, peer.mappedModel), "mapped memory differs from what was written");
            }
        }
        host.memory().deregister(mappedRegion);
        queuePair.close();
    }

    /** A stream that was refused, or whose peer never began, ends without the peer's word, also where nothing is lost. */
    private boolean hasReason(String why, boolean wasJoined) {
        boolean isReset = why.contains("had not ended its output");
        return isReset && !wasJoined || mayBreak.getAsBoolean() && (isReset || why.contains("could not be delivered"));
    }

    private boolean gaveUp() {
        return written < planned;
    }

    @Override
    public String toString() {
        return name + (gone ? " gone" : "") + " wrote " + written + " of " + planned + ", read " + read + ", "
                + (protocol.isOpen() ? "open" : "broken: " + protocol.isBroken()) + ", quiet " + protocol.isQuiet()
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

package io.rdma4j.acceptance.traffic;

import io.rdma4j.acceptance.process.Parent;
import io.rdma4j.acceptance.process.Role;
import io.rdma4j.link.linux.HostileRing;
import io.rdma4j.value.Gid;
import io.rdma4j.verbs.RdmaException;
import io.rdma4j.verbs.SendWorkRequest;
import io.rdma4j.verbs.WorkCompletion;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.StandardProtocolFamily;
import java.net.UnixDomainSocketAddress;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.SocketChannel;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.EnumSet;
import java.util.List;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;

/**
 * A process of the victim's user that hands over shared memory and writes anything into it.
 *
 * <p>The parameters are {@code address}, {@code port}, {@code socket} (of the victim, for rings), {@code numbers} (of its queue
 * pairs), {@code key} and {@code guard} (of a region of the victim), {@code seed} and {@code count}. On the name of an {@link Attack}
 * it reports {@code done}, the number of its parts that the victim has refused. It ends with the test.
 */
public final class HostileSharer implements Role {
    /** The attack of the process. */
    public enum Attack {
        /** Random bytes over all memory. */
        RANDOM_MEMORY,
        /** Random records, with a valid tail. */
        RANDOM_RECORDS,
        /** Impossible tails, heads and flags. */
        NUMBERS,
        /** Lengths of records and frames, most of them impossible. */
        LENGTHS,
        /** Packets of all kinds for queue pairs that do not exist, or from the wrong port. */
        PACKETS,
        /** Wrong keys and addresses, over valid connections. */
        KEYS,
        /** Greetings without memory, and none. */
        GREETINGS,
        /** Memory that could be truncated, or has a wrong size. */
        MEMORY,
        /** Memory that is truncated immediately after it was handed over. */
        TRUNCATED,
        /** Bytes that wake the victim. */
        WAKE_BYTES,
        /** Many rings at the same time, all of them used. */
        MANY_RINGS,
        /** Many connections without a greeting, which stay open until {@link #LEAVE}. */
        CROWD,
        /** Ends the crowd. */
        LEAVE
    }

    /** The attacks that are not repeated. */
    private static final Set<Attack> ONCE = EnumSet.of(Attack.MANY_RINGS, Attack.CROWD, Attack.LEAVE);

    private static final long WAIT_NANOS = 2_000_000_000L;
    private static final int MANY = 400;
    /**
     * More than the victim accepts without a greeting, but not more than these and the queue of its socket together.
     */
    private static final int CROWD = 300;

    private static final int FRAME_BYTES = 1100;
    private static final int WRONG_PORT = 40_123;
    private static final long[] EDGES = {
        0,
        1,
        63,
        64,
        65,
        4096,
        1 << 20,
        (1 << 20) + 1,
        (1 << 20) + 64,
        1L << 31,
        1L << 32,
        -1,
        -64,
        Long.MIN_VALUE,
        Long.MAX_VALUE
    };
    private static final int[] LENGTHS = {
        0,
        1,
        11,
        12,
        16,
        28,
        100,
        512,
        513,
        1100,
        4224,
        4225,
        65_536,
        1 << 19,
        1 << 20,
        (1 << 20) - 16,
        Integer.MAX_VALUE,
        -1,
        -2,
        Integer.MIN_VALUE
    };

    private final List<SocketChannel> crowd = new ArrayList<>();
    private Random random = new Random();
    private Gid address = Gid.of(InetAddress.getLoopbackAddress());
    private InetSocketAddress victim = new InetSocketAddress(0);
    private Path socket = Path.of("");
    private int[] numbers = {};
    private long guard;
    private int key;

    @Override
    public void run(Parent parent) throws Exception {
        random = new Random(parent.number("seed", 1));
        address = Gid.of(InetAddress.ofLiteral(parent.text("address", "127.0.0.1")));
        victim = new InetSocketAddress(parent.text("address", "127.0.0.1"), (int) parent.number("port", 0));
        socket = Path.of(parent.text("socket", ""));
        numbers = parent.numbers("numbers");
        guard = parent.number("guard", 0);
        key = (int) parent.number("key", 0);
        int count = (int) parent.number("count", 1);
        parent.report("ready", 1);
        while (true) {
            Attack attack = Attack.valueOf(parent.nextCommand());
            int refused = 0;
            for (int i = 0; i < (ONCE.contains(attack) ? 1 : count); i++) {
                refused += attack(attack);
            }
            parent.report("done", refused);
        }
    }

    private int attack(Attack attack) throws IOException {
        return switch (attack) {
            case RANDOM_MEMORY -> withRing(this::randomMemory);
            case RANDOM_RECORDS -> withRing(this::randomRecords);
            case NUMBERS -> withRing(this::wrongNumbers);
            case LENGTHS -> withRing(this::wrongLengths);
            case PACKETS -> withRing(this::packets);
            case KEYS -> wrongKeys();
            case GREETINGS -> greetings();
            case MEMORY -> wrongMemory();
            case TRUNCATED -> truncated();
            case WAKE_BYTES ->
                withRing((ring, _) -> {
                    for (int i = 0; i < 100; i++) {
                        ring.wake();
                    }
                });
            case MANY_RINGS -> manyRings();
            case CROWD -> crowd();
            case LEAVE -> leave();
        };
    }

    /** An attack on a ring. */
    private interface Nonsense {
        void write(HostileRing ring, MemorySegment memory);
    }

    private HostileRing connect(long bytes, int seals) throws IOException {
        return HostileRing.connect(socket, bytes, seals, address.high(), address.low());
    }

    /** Returns 1 if the victim closes the ring, else 0. */
    private int withRing(Nonsense nonsense) throws IOException {
        try (HostileRing ring = connect(HostileRing.USUAL_BYTES, HostileRing.SEALS);
                Arena arena = Arena.ofConfined()) {
            MemorySegment memory = ring.map(HostileRing.USUAL_BYTES, arena);
            // A frame that the victim reads and drops: after that, it has mapped the memory.
            HostileRing.setRecord(memory, 0, 64, 64, WRONG_PORT, false);
            HostileRing.setTail(memory, HostileRing.recordBytes(64));
            ring.wake();
            await(() -> HostileRing.head(memory) > 0 || ring.isClosed());
            nonsense.write(ring, memory);
            return ring.isClosed() ? 1 : 0;
        }
    }

    private static void await(BooleanSupplier condition) {
        long begin = System.nanoTime();
        while (!condition.getAsBoolean() && System.nanoTime() - begin < WAIT_NANOS) {
            Thread.onSpinWait();
        }
    }

    /** Wakes the victim and gives it time to read. */
    private static void pause(HostileRing ring) {
        ring.wake();
        LockSupport.parkNanos(1_000_000);
    }

    private void randomMemory(HostileRing ring, MemorySegment memory) {
        byte[] bytes = new byte[(int) HostileRing.USUAL_BYTES];
        for (int i = 0; i < 4; i++) {
            random.nextBytes(bytes);
            MemorySegment.copy(bytes, 0, memory, ValueLayout.JAVA_BYTE, 0, bytes.length);
            pause(ring);
        }
    }

    private void randomRecords(HostileRing ring, MemorySegment memory) {
        byte[] bytes = new byte[4096];
        long tail = HostileRing.recordBytes(64);
        for (int i = 0; i < 50 && !ring.isClosed(); i++) {
            random.nextBytes(bytes);
            int length = random.nextInt(1, 2000);
            HostileRing.setFrames(memory, tail, bytes);
            HostileRing.setRecord(
                    memory,
                    tail,
                    length,
                    random.nextBoolean() ? length : random.nextInt(1, 100),
                    random.nextInt(),
                    random.nextBoolean());
            tail += HostileRing.recordBytes(length);
            HostileRing.setTail(memory, tail);
            ring.wake();
        }
        pause(ring);
    }

    private void wrongNumbers(HostileRing ring, MemorySegment memory) {
        for (int i = 0; i < 20; i++) {
            long number = EDGES[random.nextInt(EDGES.length)];
            switch (random.nextInt(3)) {
                case 0 -> HostileRing.setTail(memory, number);
                case 1 -> HostileRing.setHead(memory, number);
                default -> HostileRing.setAsleep(memory, (int) number);
            }
            pause(ring);
        }
    }

    private void wrongLengths(HostileRing ring, MemorySegment memory) {
        long tail = HostileRing.recordBytes(64);
        for (int i = 0; i < 10 && !ring.isClosed() && tail < HostileRing.capacity() / 2; i++) {
            int bytes = LENGTHS[random.nextInt(LENGTHS.length)];
            HostileRing.setRecord(
                    memory, tail, bytes, LENGTHS[random.nextInt(LENGTHS.length)], WRONG_PORT, random.nextBoolean());
            tail += random.nextBoolean() ? 64L : HostileRing.recordBytes(Math.clamp(bytes, 1, 1 << 19));
            HostileRing.setTail(memory, tail);
            pause(ring);
        }
    }

    /** Packets for queue pairs of the victim come from a port that is not their peer's. */
    private void packets(HostileRing ring, MemorySegment memory) {
        List<byte[]> packets = HostileDatagrams.all(200);
        long tail = HostileRing.recordBytes(64);
        for (int i = random.nextInt(10); i < packets.size() && !ring.isClosed(); i += 10) {
            byte[] packet = random.nextInt(4) == 0
                    ? Arrays.copyOf(packets.get(i), FRAME_BYTES)
                    : packets.get(i).clone();
            if (packet.length == 0) {
                continue;
            }
            if (HostileDatagrams.isComplete(packet) && !HostileDatagrams.isManagement(packet)) {
                int number = numbers[random.nextInt(numbers.length)];
                HostileDatagrams.aim(
                        packet,
                        random.nextBoolean() ? number : number & 0xff_0000 | random.nextInt(1 << 16),
                        random.nextInt());
            }
            if (tail % HostileRing.capacity() + HostileRing.recordBytes(packet.length) > HostileRing.capacity()) {
                return;
            }
            HostileRing.setFrames(memory, tail, packet);
            HostileRing.setRecord(memory, tail, packet.length, packet.length, WRONG_PORT, random.nextInt(4) == 0);
            tail += HostileRing.recordBytes(packet.length);
            HostileRing.setTail(memory, tail);
        }
        long end = tail;
        ring.wake();
        await(() -> HostileRing.head(memory) == end || ring.isClosed());
    }

    /** Each wrong request breaks the connection of this process, and needs another one. */
    private int wrongKeys() {
        int wrongKey = switch (random.nextInt(4)) {
            case 0 -> key ^ 1 << random.nextInt(32);
            case 1 -> 0;
            default -> random.nextInt();
        };
        try (TrafficSide side = TrafficSide.connect(
                new InetSocketAddress(victim.getAddress(), 0), victim, TrafficSide.Shape.of(4, 4, 4096))) {
            boolean isOwn = random.nextInt(4) == 0;
            int used = isOwn ? side.remoteKey() : wrongKey;
            SendWorkRequest request = new SendWorkRequest().reset(1).signaled();
            side.queuePair()
                    .postSend(
                            switch (random.nextInt(4)) {
                                case 0 -> request.from(side.region(), 0, 4096).write(guard, used);
                                case 1 -> request.from(side.region(), 0, 64).read(guard, used);
                                case 2 -> request.from(side.region(), 0, 8).fetchAndAdd(guard, used, 1);
                                default -> request.from(side.region(), 0, 64).write(guard + 1, used);
                            });
            WorkCompletion[] one = WorkCompletion.array(1);
            int count = side.await(one, Duration.ofSeconds(30));
            return count == 1 && !one[0].isSuccess() ? 1 : 0;
        } catch (RdmaException e) {
            System.err.println(e.getMessage());
            return 0;
        }
    }

    private int greetings() throws IOException {
        int refused = 0;
        for (int length : new int[] {0, 1, 8, 23, 24, 25, 4096}) {
            byte[] bytes = new byte[length];
            random.nextBytes(bytes);
            ByteBuffer buffer = ByteBuffer.wrap(bytes).order(ByteOrder.nativeOrder());
            if (length >= 8 && random.nextBoolean()) {
                buffer.putLong(0, 0x7234_6a52_0000_0001L);
            }
            try (SocketChannel channel = SocketChannel.open(StandardProtocolFamily.UNIX)) {
                boolean _ = channel.connect(UnixDomainSocketAddress.of(socket));
                while (buffer.hasRemaining()) {
                    int _ = channel.write(buffer);
                }
                channel.configureBlocking(false);
                await(() -> length == 0 || isClosed(channel));
                refused += length == 0 || isClosed(channel) ? 1 : 0;
            }
        }
        return refused == 7 ? 1 : 0;
    }

    private static boolean isClosed(SocketChannel channel) {
        try {
            return channel.read(ByteBuffer.allocate(1)) < 0;
        } catch (IOException e) {
            return true;
        }
    }

    private int wrongMemory() throws IOException {
        int refused = 0;
        int tried = 0;
        for (int seals : new int[] {0, 1, 2, 3, 4, 5, 6, HostileRing.ALL_SEALS}) {
            refused += isRefused(HostileRing.USUAL_BYTES, seals) ? 1 : 0;
            tried++;
        }
        for (long bytes : new long[] {
            0, 1, 4096, 4096 + (1 << 17), 4096 + 3 * (1 << 18), 4095 + (1 << 20), 4096 + (1L << 27), 1L << 31, 1L << 40
        }) {
            refused += isRefused(bytes, HostileRing.SEALS) ? 1 : 0;
            tried++;
        }
        return refused == tried ? 1 : 0;
    }

    private boolean isRefused(long bytes, int seals) throws IOException {
        try (HostileRing ring = connect(bytes, seals)) {
            await(ring::isClosed);
            return ring.isClosed();
        }
    }

    private int truncated() throws IOException {
        try (HostileRing ring = connect(HostileRing.USUAL_BYTES, random.nextInt(7))) {
            for (int i = 0; i < 50; i++) {
                ring.resize(0);
                ring.resize(HostileRing.USUAL_BYTES);
            }
            ring.resize(0);
            await(ring::isClosed);
            return ring.isClosed() ? 1 : 0;
        }
    }

    private int manyRings() throws IOException {
        List<HostileRing> rings = new ArrayList<>();
        try (Arena arena = Arena.ofConfined()) {
            for (int i = 0; i < MANY; i++) {
                HostileRing ring = connectPatiently();
                rings.add(ring);
                MemorySegment memory = ring.map(HostileRing.USUAL_BYTES, arena);
                HostileRing.setRecord(memory, 0, 64, 64, WRONG_PORT, false);
                HostileRing.setTail(memory, HostileRing.recordBytes(64));
                ring.wake();
            }
            LockSupport.parkNanos(WAIT_NANOS);
            return (int) rings.stream().filter(HostileRing::isClosed).count();
        } finally {
            rings.forEach(HostileRing::close);
        }
    }

    /** The queue of the victim's socket may be full temporarily. */
    private HostileRing connectPatiently() throws IOException {
        for (long begin = System.nanoTime(); ; Thread.onSpinWait()) {
            try {
                return connect(HostileRing.USUAL_BYTES, HostileRing.SEALS);
            } catch (IOException e) {
                if (System.nanoTime() - begin > WAIT_NANOS) {
                    throw e;
                }
            }
        }
    }

    private int crowd() throws IOException {
        for (int i = 0; i < CROWD; i++) {
            SocketChannel channel = SocketChannel.open(StandardProtocolFamily.UNIX);
            crowd.add(channel);
            channel.configureBlocking(false);
            try {
                boolean _ = channel.connect(UnixDomainSocketAddress.of(socket));
            } catch (IOException full) {
                break; // the queue of the victim's socket
            }
            LockSupport.parkNanos(500_000);
        }
        return crowd.size();
    }

    private int leave() throws IOException {
        for (SocketChannel channel : crowd) {
            channel.close();
        }
        crowd.clear();
        return 0;
    }
}

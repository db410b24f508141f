package io.rdma4j.link.linux;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import io.rdma4j.link.ring.RingLayout;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.ref.Reference;
import java.nio.file.Path;

/**
 * A ring of a hostile process: its memory may lack seals or have any size, and this side writes anything into it and
 * into its socket. Not thread safe.
 *
 * <p>The class is in the package of the link set because it uses its system calls.
 */
public final class HostileRing implements AutoCloseable {
    /** All seals that a ring needs. */
    public static final int SEALS = 7;

    /** The same seals, and one that forbids writing. */
    public static final int ALL_SEALS = 15;

    /** The size that the project's rings have. */
    public static final long USUAL_BYTES = RingLayout.RECORDS + (1L << 20);

    private static final int WAKE_BYTES = 4096;

    private final MemorySegment errno = Posix.newErrno();
    private final LinuxLinkSet set;
    private final Socket socket;
    private final int memory;

    private HostileRing(LinuxLinkSet set, Socket socket, int memory) {
        this.set = set;
        this.socket = socket;
        this.memory = memory;
    }

    /**
     * Connects and hands over memory.
     *
     * @param path the socket of the victim
     * @param bytes size of the memory
     * @param seals the seals of the memory
     * @param high the address that the frames pretend to come from, upper half
     * @param low lower half
     * @throws IOException if the victim does not accept it
     */
    public static HostileRing connect(Path path, long bytes, int seals, long high, long low) throws IOException {
        LinuxLinkSet set = new LinuxLinkSet();
        Socket socket = Socket.open(set, Posix.AF_UNIX, Posix.SOCK_STREAM);
        MemorySegment name = SocketAddresses.unix(path);
        int connected = Posix.connect(socket.errno, socket.fd, name, (int) name.byteSize());
        int memory = MemoryCalls.create(socket.errno, Arena.ofAuto().allocateFrom("hostile"));
        HostileRing ring = new HostileRing(set, socket, memory);
        try {
            require(connected);
            require(memory);
            require(MemoryCalls.resize(ring.errno, memory, bytes));
            if (seals != 0) {
                require(MemoryCalls.addSeals(ring.errno, memory, seals));
            }
            if (!new RingGreeting().send(socket, memory, high, low)) {
                throw new IOException("the victim does not accept a greeting");
            }
            return ring;
        } catch (IOException e) {
            ring.close();
            throw e;
        }
    }

    private static void require(int result) throws IOException {
        if (result < 0) {
            throw new IOException(LinuxErrno.describe(-result));
        }
    }

    /** Maps the memory until {@code arena} closes. */
    @SuppressWarnings("restricted") // the mapping has this size
    public MemorySegment map(long bytes, Arena arena) throws IOException {
        long address = MemoryCalls.map(errno, memory, bytes);
        if (address < 0) {
            throw new IOException("mmap: " + LinuxErrno.describe((int) -address));
        }
        return MemorySegment.ofAddress(address)
                .reinterpret(bytes, arena, mapped -> MemoryCalls.unmap(Posix.newErrno(), mapped.address(), bytes));
    }

    /** Changes the size of the memory, if its seals allow that. */
    public void resize(long bytes) {
        int _ = MemoryCalls.resize(errno, memory, bytes);
    }

    /** Sends bytes that wake the victim, as many as its socket takes. */
    public void wake() {
        MemorySegment bytes = Arena.ofAuto().allocate(WAKE_BYTES);
        try {
            int _ = Posix.send(errno, socket.fd, bytes.address(), WAKE_BYTES);
        } finally {
            Reference.reachabilityFence(bytes);
        }
    }

    /** Returns whether the victim has closed its end. */
    public boolean isClosed() {
        MemorySegment one = Arena.ofAuto().allocate(1);
        try {
            int received = Posix.recv(errno, socket.fd, one.address(), 1);
            return received == 0 || received < 0 && received != -LinuxErrno.EAGAIN;
        } finally {
            Reference.reachabilityFence(one);
        }
    }

    /** Returns the capacity of a ring of the usual size. */
    public static int capacity() {
        return (int) (USUAL_BYTES - RingLayout.RECORDS);
    }

    /** Sets the number of bytes written. */
    public static void setTail(MemorySegment ring, long tail) {
        JAVA_LONG.varHandle().setRelease(ring, 0L, tail);
    }

    /** Returns the number of bytes that the victim has released. */
    public static long head(MemorySegment ring) {
        return (long) JAVA_LONG.varHandle().getAcquire(ring, 128L);
    }

    /** Sets the number of bytes released, which only the victim should write. */
    public static void setHead(MemorySegment ring, long head) {
        ring.set(JAVA_LONG, 128, head);
    }

    /** Sets the flag, which only the victim should set. */
    public static void setAsleep(MemorySegment ring, int value) {
        ring.set(JAVA_INT, 256, value);
    }

    /** Writes the header of a record at an offset from the first one. */
    public static void setRecord(
            MemorySegment ring, long at, int bytes, int frameBytes, int sourcePort, boolean isSealed) {
        long record = RingLayout.RECORDS + at;
        ring.set(JAVA_INT, record, bytes);
        ring.set(JAVA_INT, record + 4, frameBytes);
        ring.set(JAVA_INT, record + 8, sourcePort);
        ring.set(JAVA_BYTE, record + 12, (byte) 0);
        ring.set(JAVA_BYTE, record + 13, (byte) (isSealed ? 1 : 0));
    }

    /** Writes bytes into the frames of such a record. */
    public static void setFrames(MemorySegment ring, long at, byte[] bytes) {
        MemorySegment.copy(bytes, 0, ring, JAVA_BYTE, RingLayout.RECORDS + at + 16, bytes.length);
    }

    /** Returns the size of a record. */
    public static int recordBytes(int bytes) {
        return 16 + bytes + 63 & -64;
    }

    @Override
    public void close() {
        if (memory >= 0) {
            Posix.close(memory);
        }
        socket.close();
        set.close();
    }
}

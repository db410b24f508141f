package io.rdma4j.sharing;

import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import io.rdma4j.value.Gid;
import io.rdma4j.wire.cm.AbandonedConnection;
import io.rdma4j.wire.cm.CmRoute;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.VarHandle;
import java.nio.ByteOrder;

/**
 * The file of a {@link CrashDisconnectTable}: a header and records of {@value #RECORD_BYTES} bytes each, which Java and a C
 * program's guardian read. The file guardian.c has the same numbers.
 *
 * <pre>
 * header   magic number (4), version (4), number of records that can be read (4)
 * record   state (4): free, established, or taken by a process that disconnects the peer
 *          communication ID (4), queue pair (4), the peer's communication ID (4),
 *          the peer's queue pair (4), traffic class (4), IPv6 scope identifier (4), 4 unused,
 *          local address (16), the peer's address (16), both in GID form and network byte order
 * </pre>
 *
 * Numbers are in the machine's byte order.
 */
final class CrashDisconnectFormat {
    static final int FREE = 0;
    static final int ESTABLISHED = 1;
    static final int TAKEN = 2;

    /** The number of queue pairs of a slot. */
    static final int MAX_RECORDS = 1 << 16;

    /** Header and records take 4 KiB. */
    static final int FIRST_RECORDS = 63;

    private static final int MAGIC = 0x5234_4344;
    private static final int VERSION = 1;
    private static final int RECORD_BYTES = 64;
    static final long FILE_BYTES = bytes(MAX_RECORDS);

    // Header
    private static final long MAGIC_AT = 0;
    private static final long VERSION_AT = 4;
    private static final long COUNT_AT = 8;

    // Record
    private static final long LOCAL_ID = 4;
    private static final long LOCAL_QUEUE_PAIR = 8;
    private static final long REMOTE_ID = 12;
    private static final long REMOTE_QUEUE_PAIR = 16;
    private static final long TRAFFIC_CLASS = 20;
    private static final long SCOPE = 24;
    private static final long LOCAL = 32;
    private static final long REMOTE = 48;

    private static final VarHandle INT = JAVA_INT.varHandle();
    private static final ValueLayout.OfLong NETWORK_LONG = JAVA_LONG.withOrder(ByteOrder.BIG_ENDIAN);

    private CrashDisconnectFormat() {}

    /** Returns the name of the file of a slot. */
    static String fileName(int slot) {
        return "disconnects-" + slot;
    }

    /** Returns the size of a file with a number of records. */
    static long bytes(int records) {
        return (long) RECORD_BYTES * (records + 1);
    }

    private static long at(int index) {
        return bytes(index);
    }

    /** Writes the header of an empty file. */
    static void begin(MemorySegment file) {
        file.set(JAVA_INT, VERSION_AT, VERSION);
        setCount(file, FIRST_RECORDS);
        INT.setRelease(file, MAGIC_AT, MAGIC);
    }

    /** Returns the number of records, or 0 if this is not such a file. */
    static int count(MemorySegment file) {
        if (file.byteSize() < bytes(FIRST_RECORDS)
                || (int) INT.getAcquire(file, MAGIC_AT) != MAGIC
                || file.get(JAVA_INT, VERSION_AT) != VERSION) {
            return 0;
        }
        return Math.clamp((int) INT.getAcquire(file, COUNT_AT), 0, MAX_RECORDS);
    }

    static void setCount(MemorySegment file, int count) {
        INT.setRelease(file, COUNT_AT, count);
    }

    static void setState(MemorySegment file, int index, int state) {
        INT.setRelease(file, at(index), state);
    }

    /** Takes the record of an established connection. Returns false if there is none, or another process has taken it. */
    static boolean take(MemorySegment file, int index) {
        return INT.compareAndSet(file, at(index), ESTABLISHED, TAKEN);
    }

    static boolean isEstablished(MemorySegment file, int index) {
        return (int) INT.getAcquire(file, at(index)) == ESTABLISHED;
    }

    /** Writes all fields of a record except its state. */
    static void write(MemorySegment file, int index, AbandonedConnection connection) {
        long at = at(index);
        file.set(JAVA_INT, at + LOCAL_ID, connection.localId());
        file.set(JAVA_INT, at + LOCAL_QUEUE_PAIR, connection.localQueuePair());
        file.set(JAVA_INT, at + REMOTE_ID, connection.remoteId());
        file.set(JAVA_INT, at + REMOTE_QUEUE_PAIR, connection.remoteQueuePair());
        file.set(JAVA_INT, at + TRAFFIC_CLASS, connection.trafficClass());
        file.set(JAVA_INT, at + SCOPE, connection.route().scope());
        putGid(file, at + LOCAL, connection.route().local());
        putGid(file, at + REMOTE, connection.route().remote());
    }

    /** Reads a record. */
    static AbandonedConnection read(MemorySegment file, int index) {
        long at = at(index);
        CmRoute route = new CmRoute(gid(file, at + LOCAL), gid(file, at + REMOTE), file.get(JAVA_INT, at + SCOPE));
        return new AbandonedConnection(
                route,
                file.get(JAVA_INT, at + TRAFFIC_CLASS),
                file.get(JAVA_INT, at + LOCAL_ID),
                file.get(JAVA_INT, at + LOCAL_QUEUE_PAIR),
                file.get(JAVA_INT, at + REMOTE_ID),
                file.get(JAVA_INT, at + REMOTE_QUEUE_PAIR));
    }

    private static void putGid(MemorySegment file, long at, Gid gid) {
        file.set(NETWORK_LONG, at, gid.high());
        file.set(NETWORK_LONG, at + 8, gid.low());
    }

    private static Gid gid(MemorySegment file, long at) {
        return new Gid(file.get(NETWORK_LONG, at), file.get(NETWORK_LONG, at + 8));
    }
}

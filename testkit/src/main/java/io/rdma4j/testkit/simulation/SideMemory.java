package io.rdma4j.testkit.simulation;

import io.rdma4j.testkit.SimulatedHost;
import io.rdma4j.transport.AccessFlags;
import io.rdma4j.transport.MemoryRegion;
import java.lang.foreign.MemorySegment;
import java.util.Arrays;
import java.util.SplittableRandom;

/** The memory of one side of a reliable connection: what the peer may reach, what is sent from, and where answers land. */
final class SideMemory {
    /** Bytes that the peer may reach. */
    static final int TARGET_BYTES = 16_384;

    /** Bytes that messages are taken from. */
    static final int SOURCE_BYTES = 65_536;

    /** Number of the protection domain. */
    static final int DOMAIN = 1;

    private static final int CANARY_BYTES = 64;

    private final SimulatedHost host;
    private final SplittableRandom random;
    private final byte[] targetBytes;
    private final byte[] canaries;
    final MemoryRegion target;
    final byte[] sourceBytes;
    final MemoryRegion source;
    final byte[] resultBytes;
    final MemoryRegion results;
    final byte[] receiveBytes;
    final MemoryRegion receives;

    /**
     * Registers memory, full of random bytes where something is read from it before it is written.
     *
     * @param resultCount bytes for results of READs and atomics
     * @param receiveCount bytes for messages
     */
    SideMemory(SimulatedHost host, int resultCount, int receiveCount, SplittableRandom random) {
        this.host = host;
        this.random = random;
        targetBytes = bytes(TARGET_BYTES + 2 * CANARY_BYTES);
        canaries = canaries();
        target = host.memory()
                .register(
                        MemorySegment.ofArray(targetBytes).asSlice(CANARY_BYTES, TARGET_BYTES),
                        alignedAddress(),
                        AccessFlags.LOCAL_WRITE
                                | AccessFlags.REMOTE_WRITE
                                | AccessFlags.REMOTE_READ
                                | AccessFlags.REMOTE_ATOMIC
                                | AccessFlags.MEMORY_WINDOW_BIND,
                        DOMAIN);
        sourceBytes = bytes(SOURCE_BYTES);
        source = register(sourceBytes, 0);
        resultBytes = new byte[resultCount + CANARY_BYTES];
        results = register(resultBytes, AccessFlags.LOCAL_WRITE);
        receiveBytes = new byte[receiveCount + 1];
        receives = register(receiveBytes, AccessFlags.LOCAL_WRITE);
    }

    private byte[] bytes(int count) {
        byte[] bytes = new byte[count];
        random.nextBytes(bytes);
        return bytes;
    }

    private long alignedAddress() {
        return random.nextLong() & 0x7fff_ffff_ffff_f000L;
    }

    private MemoryRegion register(byte[] bytes, int access) {
        return host.memory().register(MemorySegment.ofArray(bytes), alignedAddress(), access, DOMAIN);
    }

    /** What the peer may reach, as it is now. */
    byte[] targetCopy() {
        return Arrays.copyOfRange(targetBytes, CANARY_BYTES, CANARY_BYTES + TARGET_BYTES);
    }

    /** Whether nothing was written beside what the peer may reach. */
    boolean isIntact() {
        return Arrays.equals(canaries, canaries());
    }

    private byte[] canaries() {
        byte[] beside = Arrays.copyOf(targetBytes, 2 * CANARY_BYTES);
        System.arraycopy(targetBytes, CANARY_BYTES + TARGET_BYTES, beside, CANARY_BYTES, CANARY_BYTES);
        return beside;
    }

    /** Takes all registrations back. */
    void release() {
        host.memory().deregister(target);
        host.memory().deregister(source);
        host.memory().deregister(results);
        host.memory().deregister(receives);
    }
}

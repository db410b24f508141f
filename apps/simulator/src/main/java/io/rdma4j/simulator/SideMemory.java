package io.rdma4j.simulator;

import io.rdma4j.simulator.network.SimulatedHost;
import io.rdma4j.transport.MemoryRegion;
import io.rdma4j.value.AccessFlag;
import java.lang.foreign.MemorySegment;
import java.util.Arrays;
import java.util.SplittableRandom;

/**
 * The memory of one side of a reliable connection.
 *
 * <p>It consists of a target, which the peer may access, the source of messages, the results of READs and atomics, and
 * the receive buffers.
 */
final class SideMemory {
    /** Size of the memory that the peer may access. */
    static final int TARGET_BYTES = 16_384;

    /** Size of the memory that messages are sent from. */
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
     * Registers the memory. Memory that is read before it is written is filled with random bytes.
     *
     * @param resultCount bytes for the results of READs and atomics
     * @param receiveCount bytes for received messages
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
                        AccessFlag.LOCAL_WRITE.bit()
                                | AccessFlag.REMOTE_WRITE.bit()
                                | AccessFlag.REMOTE_READ.bit()
                                | AccessFlag.REMOTE_ATOMIC.bit()
                                | AccessFlag.FLUSH_GLOBAL.bit()
                                | AccessFlag.MEMORY_WINDOW_BIND.bit(),
                        DOMAIN);
        sourceBytes = bytes(SOURCE_BYTES);
        source = register(sourceBytes, 0);
        resultBytes = new byte[resultCount + CANARY_BYTES];
        results = register(resultBytes, AccessFlag.LOCAL_WRITE.bit());
        receiveBytes = new byte[receiveCount + 1];
        receives = register(receiveBytes, AccessFlag.LOCAL_WRITE.bit());
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

    /** Returns a copy of the memory that the peer may access. */
    byte[] targetCopy() {
        return Arrays.copyOfRange(targetBytes, CANARY_BYTES, CANARY_BYTES + TARGET_BYTES);
    }

    /** Returns whether the bytes around the target are unchanged. */
    boolean isIntact() {
        return Arrays.equals(canaries, canaries());
    }

    private byte[] canaries() {
        byte[] copy = Arrays.copyOf(targetBytes, 2 * CANARY_BYTES);
        System.arraycopy(targetBytes, CANARY_BYTES + TARGET_BYTES, copy, CANARY_BYTES, CANARY_BYTES);
        return copy;
    }

    /** Deregisters all regions. */
    void release() {
        host.memory().deregister(target);
        host.memory().deregister(source);
        host.memory().deregister(results);
        host.memory().deregister(receives);
    }
}

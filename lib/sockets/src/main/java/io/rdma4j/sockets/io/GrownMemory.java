package io.rdma4j.sockets.io;

import io.rdma4j.sockets.stream.StreamPort;
import io.rdma4j.value.AccessFlag;
import io.rdma4j.verbs.MemoryRegion;
import io.rdma4j.verbs.ProtectionDomain;
import io.rdma4j.verbs.RdmaException;
import java.lang.foreign.MemorySegment;
import java.util.ArrayDeque;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;

/** The memory by which the buffers of one stream have grown. The sum over the process is limited. Not thread safe. */
final class GrownMemory implements AutoCloseable {
    /** The bytes by which the buffers of the process may still grow. */
    private static final AtomicLong AVAILABLE = new AtomicLong(DefaultSizes.TOTAL_BYTES);

    /** A block of registered memory. */
    record Piece(MemoryRegion region, MemoryPool.Block block) implements StreamPort.SendMemory {
        @Override
        public MemorySegment memory() {
            return region.memory();
        }
    }

    private final ProtectionDomain domain;
    private final ArrayDeque<Piece> pieces = new ArrayDeque<>();

    GrownMemory(ProtectionDomain domain) {
        this.domain = domain;
    }

    /**
     * Allocates memory. Returns null if the buffers of the process have reached the limit of growth, or there is no
     * memory.
     */
    @Nullable
    Piece allocate(int bytes, AccessFlag... access) {
        if (AVAILABLE.addAndGet(-bytes) < 0) {
            AVAILABLE.addAndGet(bytes);
            return null;
        }
        MemoryPool.Block block = null;
        boolean done = false;
        try {
            block = MemoryPool.ofStreams().take(bytes);
            Piece piece = new Piece(domain.register(block.memory(), access), block);
            pieces.add(piece);
            done = true;
            return piece;
        } catch (RdmaException | OutOfMemoryError refused) {
            return null; // the buffer keeps its size
        } finally {
            if (!done) {
                if (block != null) {
                    MemoryPool.ofStreams().give(block);
                }
                AVAILABLE.addAndGet(bytes);
            }
        }
    }

    StreamPort.@Nullable ReceiveMemory allocateToReceive(int bytes) {
        Piece piece = allocate(bytes, AccessFlag.LOCAL_WRITE, AccessFlag.REMOTE_WRITE);
        return piece == null
                ? null
                : new StreamPort.ReceiveMemory(
                        piece.memory(), piece.region().address(), piece.region().remoteKey());
    }

    void release(StreamPort.ReceiveMemory memory) {
        for (Piece each : pieces) {
            if (each.memory().equals(memory.memory())) {
                release(each);
                return;
            }
        }
    }

    void release(Piece piece) {
        pieces.remove(piece);
        free(piece);
    }

    private static void free(Piece piece) {
        long bytes = piece.memory().byteSize();
        piece.region().close();
        MemoryPool.ofStreams().give(piece.block());
        AVAILABLE.addAndGet(bytes);
    }

    @Override
    public void close() {
        Releases.closeAll(pieces, GrownMemory::free);
    }
}

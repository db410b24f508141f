package io.rdma4j.transport;

import io.rdma4j.value.AccessFlag;
import io.rdma4j.value.PlacementType;
import io.rdma4j.value.SelectivityLevel;
import io.rdma4j.wire.Feth;
import io.rdma4j.wire.Packet;
import io.rdma4j.wire.Reth;
import java.lang.foreign.MemorySegment;
import org.jspecify.annotations.Nullable;

/**
 * The part of the {@link Responder} that is particular to FLUSH requests. Source: InfiniBand Architecture volume 1,
 * annex A19; the checks are those of Linux rdma_rxe, except that it accepts reserved values.
 */
final class FlushRequests {
    private static final int FLUSH_GLOBAL = AccessFlag.FLUSH_GLOBAL.bit();
    private static final int FLUSH_PERSISTENT = AccessFlag.FLUSH_PERSISTENT.bit();
    private static final int GLOBAL = PlacementType.GLOBAL.bit();
    private static final int PERSISTENT = PlacementType.PERSISTENT.bit();
    private static final int PLACEMENTS = GLOBAL | PERSISTENT;
    private static final int REGION = SelectivityLevel.REGION.code();

    private FlushRequests() {}

    private static int placement(Packet packet) {
        return Feth.placement(packet.segment(), packet.fethOffset());
    }

    /** Returns whether a request names at least one placement type, and neither a reserved one nor a reserved level. */
    static boolean isValid(Packet packet) {
        int placement = placement(packet);
        return placement != 0
                && (placement & ~PLACEMENTS) == 0
                && Feth.selectivity(packet.segment(), packet.fethOffset()) <= REGION;
    }

    /** Returns the rights that a request needs, of the queue pair and of the region. */
    static int rights(Packet packet) {
        int placement = placement(packet);
        return ((placement & GLOBAL) != 0 ? FLUSH_GLOBAL : 0) | ((placement & PERSISTENT) != 0 ? FLUSH_PERSISTENT : 0);
    }

    /** Returns whether a request concerns the whole region of its key, so that its address and length have no meaning. */
    static boolean concernsRegion(Packet packet) {
        return Feth.selectivity(packet.segment(), packet.fethOffset()) == REGION;
    }

    /**
     * Returns the region of a request if it grants the rights that the request needs, otherwise null. The key is also
     * checked for zero bytes.
     */
    static @Nullable MemoryRegion find(Packet packet, MemoryTable memory, QueuePairMachine queuePair) {
        MemorySegment s = packet.segment();
        long at = packet.rethOffset();
        int key = Reth.key(s, at);
        int rights = rights(packet);
        return concernsRegion(packet)
                ? memory.find(key, rights, queuePair)
                : memory.find(key, Reth.address(s, at), Responder.dmaLength(packet), rights, queuePair);
    }

    /** Executes a request on its region. Returns false if that is not possible. */
    static boolean execute(Packet packet, MemoryRegion target) {
        boolean isWhole = concernsRegion(packet);
        long offset = isWhole ? 0 : Reth.address(packet.segment(), packet.rethOffset()) - target.address();
        long length = isWhole ? target.lengthBytes() : Responder.dmaLength(packet);
        return LocalMemory.flush(target.memory(), offset, length, (placement(packet) & PERSISTENT) != 0);
    }
}

package io.rdma4j.sockets.io;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * A pool of memory for streams. Freeing memory means closing a shared arena, which is a handshake with all threads of
 * the process. Therefore, the pool keeps the block of a stream that has ended, as long as few blocks are unused, and
 * small blocks share an arena (decision 061). Thread safe.
 */
final class MemoryPool {
    /** Memory of the pool, filled with zeros when it is taken. */
    static final class Block {
        private final MemorySegment memory;
        private final Group group;

        private Block(MemorySegment memory, Group group) {
            this.memory = memory;
            this.group = group;
        }

        MemorySegment memory() {
            return memory;
        }
    }

    /** Blocks of one arena. Guarded by the pool. */
    private static final class Group {
        final Arena arena = Arena.ofShared();
        final List<Block> unused = new ArrayList<>();
        int reserved;
        int used;
    }

    private static final MemoryPool OF_STREAMS = new MemoryPool(32L << 20);

    private static final int ALIGNMENT = 64;
    private static final int BLOCKS_OF_GROUP = 8;

    /** A larger block has a separate arena, so that a small block cannot keep it allocated. */
    private static final long MAX_SHARED_BYTES = 1 << 20;

    private final long maxUnusedBytes;
    private final List<Group> groups = new ArrayList<>();
    private final Map<Long, ArrayDeque<Block>> unused = new HashMap<>();
    private long unusedBytes;
    private long allocatedBytes;

    /** The group that further small blocks join, or null. */
    private @Nullable Group open;

    /**
     * Creates an empty pool.
     *
     * @param maxUnusedBytes the number of unused bytes above which arenas without a used block are closed
     */
    MemoryPool(long maxUnusedBytes) {
        this.maxUnusedBytes = maxUnusedBytes;
    }

    /** Returns the pool of all streams of the process. */
    static MemoryPool ofStreams() {
        return OF_STREAMS;
    }

    /**
     * Takes a block.
     *
     * @throws OutOfMemoryError if the process has no memory for it
     */
    Block take(long bytes) {
        Block known = takeUnused(bytes);
        if (known != null) {
            known.memory.fill((byte) 0); // a peer could announce bytes that it has not written
            return known;
        }
        Group group = reserve(bytes);
        boolean done = false;
        try {
            Block created = new Block(group.arena.allocate(bytes, ALIGNMENT), group);
            done = true;
            return created;
        } finally {
            if (!done) {
                cancel(group, bytes);
            }
        }
    }

    private synchronized @Nullable Block takeUnused(long bytes) {
        ArrayDeque<Block> same = unused.get(bytes);
        Block block = same == null ? null : same.pollLast();
        if (block != null) {
            block.group.unused.remove(block);
            block.group.used++;
            unusedBytes -= bytes;
        }
        return block;
    }

    private synchronized Group reserve(long bytes) {
        Group group = bytes > MAX_SHARED_BYTES ? null : open;
        if (group == null) {
            group = new Group();
            groups.add(group);
            open = bytes > MAX_SHARED_BYTES ? open : group;
        }
        group.reserved++;
        group.used++;
        allocatedBytes += bytes;
        if (group.equals(open) && group.reserved == BLOCKS_OF_GROUP) {
            open = null;
        }
        return group;
    }

    private synchronized void cancel(Group group, long bytes) {
        group.used--;
        allocatedBytes -= bytes;
    }

    /** Returns a block to the pool. No memory region or queue pair may refer to it. */
    void give(Block block) {
        close(afterGiving(block));
    }

    private synchronized List<Group> afterGiving(Block block) {
        long bytes = block.memory.byteSize();
        block.group.used--;
        block.group.unused.add(block);
        unused.computeIfAbsent(bytes, size -> new ArrayDeque<>()).add(block);
        unusedBytes += bytes;
        List<Group> closed = new ArrayList<>();
        for (Iterator<Group> all = groups.iterator(); unusedBytes > maxUnusedBytes && all.hasNext(); ) {
            Group group = all.next();
            if (group.used == 0) {
                all.remove();
                remove(group);
                closed.add(group);
            }
        }
        return closed;
    }

    private void remove(Group group) {
        for (Block block : group.unused) {
            long bytes = block.memory.byteSize();
            unused.computeIfPresent(bytes, (size, same) -> same.remove(block) && same.isEmpty() ? null : same);
            unusedBytes -= bytes;
            allocatedBytes -= bytes;
        }
        if (group.equals(open)) {
            open = null;
        }
    }

    private static void close(List<Group> groups) {
        groups.forEach(group -> group.arena.close());
    }

    /** Returns the number of bytes of all blocks, used or not. */
    synchronized long allocatedBytes() {
        return allocatedBytes;
    }

    /** Returns the number of bytes of unused blocks. */
    synchronized long unusedBytes() {
        return unusedBytes;
    }
}

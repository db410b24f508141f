package io.rdma4j.sockets.stream;

import io.rdma4j.wire.rsocket.BufferDescriptor;
import io.rdma4j.wire.rsocket.MappingEntry;
import java.nio.ByteBuffer;
import java.util.ArrayDeque;
import java.util.BitSet;
import org.jspecify.annotations.Nullable;

/**
 * The memory of both sides that is mapped for direct writes. It consists of the mappings of the peer, which writes them
 * into the table, and of the entries of the peer's table that this side uses.
 */
final class Mappings {
    /** A mapping entry that must be written to the peer's table. */
    record Announcement(int index, MappingEntry entry) {}

    private final ByteBuffer table;
    private final @Nullable MappingEntry[] offered;
    private final BitSet used = new BitSet();
    private final int peerEntries;
    private final ArrayDeque<Announcement> toAnnounce = new ArrayDeque<>();

    Mappings(ByteBuffer table, int ownEntries, int peerEntries) {
        this.table = table;
        this.offered = new @Nullable MappingEntry[ownEntries];
        this.peerEntries = peerEntries;
    }

    // ---- mappings of the peer

    /** Reads an entry that the peer has written. Returns false if the index is out of range. */
    boolean onWritten(int index) {
        if (index >= offered.length) {
            return false;
        }
        int at = StreamMemory.DESCRIPTORS * BufferDescriptor.LENGTH + index * MappingEntry.LENGTH;
        MappingEntry entry = MappingEntry.read(table, at);
        offered[index] = entry.memory().length() == 0 ? null : entry;
        return true;
    }

    /** Returns the mapping of the peer that contains an offset, or null. */
    @Nullable
    MappingEntry find(long offset) {
        for (MappingEntry entry : offered) {
            if (entry == null || offset < entry.offset()) {
                continue;
            }
            long inside = offset - entry.offset(); // negative if the difference overflows
            if (inside >= 0 && inside < Integer.toUnsignedLong(entry.memory().length())) {
                return entry;
            }
        }
        return null;
    }

    // ---- mappings of this side

    /** Allocates an entry of the peer's table. Returns its index, or -1 if none is free. */
    int take(MappingEntry entry) {
        int index = used.nextClearBit(0);
        if (index >= peerEntries) {
            return -1;
        }
        used.set(index);
        toAnnounce.add(new Announcement(index, entry));
        return index;
    }

    /** Frees an entry, and announces that the peer's table entry is cleared. */
    void release(int index, long offset) {
        used.clear(index);
        toAnnounce.removeIf(each -> each.index() == index);
        toAnnounce.add(new Announcement(index, new MappingEntry(offset, new BufferDescriptor(0, 0, 0))));
    }

    @Nullable
    Announcement next() {
        return toAnnounce.peek();
    }

    void announced() {
        toAnnounce.remove();
    }
}

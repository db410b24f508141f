package io.rdma4j.sockets.stream;

import io.rdma4j.wire.rsocket.BufferDescriptor;
import io.rdma4j.wire.rsocket.MappingEntry;
import java.nio.ByteBuffer;
import java.util.ArrayDeque;
import java.util.BitSet;
import org.jspecify.annotations.Nullable;

/**
 * Memory that is mapped for direct writes: what the peer offers, in the table that it writes to, and which entries of the
 * peer's table this side uses.
 */
final class Mappings {
    /** An entry that the peer is to hear of. */
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

    // ---- what the peer offers

    /** The peer has written an entry; false if there is no such entry. */
    boolean onWritten(int index) {
        if (index >= offered.length) {
            return false;
        }
        int at = StreamMemory.DESCRIPTORS * BufferDescriptor.LENGTH + index * MappingEntry.LENGTH;
        MappingEntry entry = MappingEntry.read(table, at);
        offered[index] = entry.memory().length() == 0 ? null : entry;
        return true;
    }

    /** The offered memory that an offset lies in, or null. */
    @Nullable
    MappingEntry find(long offset) {
        for (MappingEntry entry : offered) {
            if (entry == null || offset < entry.offset()) {
                continue;
            }
            long inside = offset - entry.offset(); // below 0 if it is more than a long can say
            if (inside >= 0 && inside < Integer.toUnsignedLong(entry.memory().length())) {
                return entry;
            }
        }
        return null;
    }

    // ---- what this side offers

    /** Takes an entry of the peer's table; its index, or -1 if none is free. */
    int take(MappingEntry entry) {
        int index = used.nextClearBit(0);
        if (index >= peerEntries) {
            return -1;
        }
        used.set(index);
        toAnnounce.add(new Announcement(index, entry));
        return index;
    }

    /** Gives an entry back; the peer may have it empty. */
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

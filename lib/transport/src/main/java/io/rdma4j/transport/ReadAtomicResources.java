package io.rdma4j.transport;

import io.rdma4j.wire.Opcode;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * The requests with separate responses (READs, atomics, FLUSHes, ATOMIC WRITEs) that a responder remembers, to respond
 * to them and to their duplicates. A ring in PSN order that overwrites the oldest entry first. Its size, the maximum
 * number in flight, is rounded up to a power of two as Linux peers do.
 */
final class ReadAtomicResources {
    /** The kind of a remembered request. A duplicate is of the same kind. */
    enum Kind {
        READ,
        ATOMIC,
        FLUSH,
        ATOMIC_WRITE;

        /** Returns the kind of a request that needs a response. */
        static Kind of(Opcode opcode) {
            if (opcode.isAtomic()) {
                return ATOMIC;
            }
            if (opcode.isFlush()) {
                return FLUSH;
            }
            return opcode.isAtomicWrite() ? ATOMIC_WRITE : READ;
        }
    }

    /** A remembered request. Sequences are 64-bit extensions of PSNs. */
    static final class Resource {
        /** Sequence of the first response packet. */
        long firstSequence;

        /** Sequence after the last response packet. */
        long endSequence;

        /**
         * Kind of the request. The response of an atomic carries {@link #original}; the others are answered by READ
         * responses, of no bytes for a FLUSH and an ATOMIC WRITE.
         */
        Kind kind = Kind.READ;

        /** Region that a READ reads, or null for zero bytes. */
        @Nullable
        MemoryRegion region;

        /** Address in the peer's request. */
        long address;

        /** Key in the peer's request. */
        int key;

        /** Length of a READ in bytes. */
        long lengthBytes;

        /** Original value of an atomic. */
        long original;

        /** Message sequence number of the response. */
        int messageSequenceNumber;

        /** True while response packets remain to be sent. */
        boolean isActive;

        /** Sequence after the newest response packet ever sent. */
        long sentEnd;

        /** First sequence of the current response. */
        long startSequence;

        /** Sequence of the next response packet. */
        long sendSequence;

        /** Offset in the READ at which the current response ends, in bytes. */
        long sendEndBytes;

        /** Returns whether every response packet was sent at least once. */
        boolean wasAnswered() {
            return sentEnd == endSequence;
        }
    }

    private final int size;
    private final LazyRing<Resource> ring;
    private long allocated;
    private int active;
    private @Nullable Resource current;

    /** @param depth maximum number of READs and atomics that the peer may have in flight */
    ReadAtomicResources(int depth) {
        ring = new LazyRing<>(depth);
        size = depth == 0 ? 0 : ring.count();
    }

    /**
     * Takes over the newest entries of another instance, as many as fit.
     *
     * @param depth maximum number of READs and atomics that the peer may have in flight
     * @param from no longer used afterwards
     */
    ReadAtomicResources(int depth, ReadAtomicResources from) {
        this(depth);
        long remembered = Math.min(from.allocated - from.oldest(), size);
        for (long i = from.allocated - remembered; i < from.allocated; i++) {
            Resource r = from.at(i);
            ring.put(allocated++, r);
            active += r.isActive ? 1 : 0;
        }
        current = oldestActive();
    }

    /** Returns the entry with an index from {@link #oldest} (inclusive) to {@link #allocated} (exclusive). */
    private Resource at(long index) {
        return Objects.requireNonNull(ring.at(index));
    }

    /** Returns the index of the oldest entry. */
    private long oldest() {
        return Math.max(0, allocated - size);
    }

    /** Returns whether the peer may send READs and atomics at all. */
    boolean isEnabled() {
        return size > 0;
    }

    /** Returns whether an entry can be allocated without overwriting one that was never fully answered. */
    boolean hasRoom() {
        if (allocated < size) {
            return true;
        }
        Resource oldest = at(allocated);
        return !oldest.isActive || oldest.wasAnswered();
    }

    /** Allocates the oldest entry; the caller fills and then activates it. */
    Resource allocate() {
        long index = allocated++;
        Resource slot = ring.at(index);
        if (slot == null) {
            slot = new Resource();
            ring.put(index, slot);
        } else if (slot.isActive) {
            deactivate(slot);
        }
        return slot;
    }

    /** Activates the response from sequence {@code from} up to byte {@code endBytes} of the READ. */
    void activate(Resource r, long from, long endBytes) {
        if (r.isActive) {
            if (from <= r.sendSequence) {
                r.startSequence = from;
                r.sendSequence = from;
            }
            r.sendEndBytes = Math.max(r.sendEndBytes, endBytes);
            return;
        }
        r.isActive = true;
        r.startSequence = from;
        r.sendSequence = from;
        r.sendEndBytes = endBytes;
        active++;
        Resource c = current;
        if (c == null || r.firstSequence < c.firstSequence) {
            current = r;
        }
    }

    /** Deactivates a response that was completely sent or will not be sent. */
    void deactivate(Resource r) {
        r.isActive = false;
        active--;
        if (current == r) {
            current = oldestActive();
        }
    }

    /**
     * Keeps active only the responses, in PSN order, that fit into {@code packets} packets in total.
     *
     * @return the first response that was deactivated, or null
     */
    @Nullable
    Resource keepActive(long packets) {
        long left = packets;
        Resource dropped = null;
        for (long i = oldest(); i < allocated; i++) {
            Resource r = at(i);
            if (!r.isActive) {
                continue;
            }
            left -= r.endSequence - r.sendSequence;
            if (dropped == null && left < 0) {
                dropped = r;
            }
            if (dropped != null) {
                deactivate(r);
            }
        }
        return dropped;
    }

    /** Deactivates all responses. */
    void deactivateAll() {
        for (long i = oldest(); i < allocated; i++) {
            at(i).isActive = false;
        }
        active = 0;
        current = null;
    }

    /** Returns the next entry to respond to, in PSN order, or null. */
    @Nullable
    Resource current() {
        return current;
    }

    /** Returns the entry that contains a sequence, or null. */
    @Nullable
    Resource find(long sequence) {
        long oldest = oldest();
        for (long i = allocated - 1; i >= oldest; i--) {
            Resource r = at(i);
            if (sequence >= r.firstSequence && sequence < r.endSequence) {
                return r;
            }
        }
        return null;
    }

    private @Nullable Resource oldestActive() {
        if (active == 0) {
            return null;
        }
        for (long i = oldest(); i < allocated; i++) {
            Resource r = at(i);
            if (r.isActive) {
                return r;
            }
        }
        return null;
    }
}

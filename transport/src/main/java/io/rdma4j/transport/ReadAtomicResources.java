package io.rdma4j.transport;

import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * What a responder remembers of the last READs and atomics, to answer them and to answer them again: a ring in the order
 * of their PSNs, the oldest overwritten first. At most as many can be in flight, rounded up to a power of two as Linux
 * peers do.
 */
final class ReadAtomicResources {
    /** One remembered request. Sequences are PSNs continued to 64 bits. */
    static final class Resource {
        /** Sequence of the first answer packet. */
        long firstSequence;

        /** Sequence behind the last answer packet. */
        long endSequence;

        /** Whether it was an atomic; its answer is {@link #original}. */
        boolean isAtomic;

        /** Where a READ reads, null for one of no bytes. */
        @Nullable
        MemoryRegion region;

        /** The peer's address. */
        long address;

        /** The peer's key. */
        int key;

        /** Bytes of a READ. */
        long lengthBytes;

        /** Result of an atomic. */
        long original;

        /** Message sequence number of the answer. */
        int messageSequenceNumber;

        /** Whether answer packets are still to be sent. */
        boolean isActive;

        /** Sequence behind the newest answer packet ever sent. */
        long sentEnd;

        /** Sequence that the present answer began with. */
        long startSequence;

        /** Sequence of the next answer packet. */
        long sendSequence;

        /** Bytes of the READ up to which to answer. */
        long sendEndBytes;

        /** Whether every answer packet was sent at least once. */
        boolean wasAnswered() {
            return sentEnd == endSequence;
        }
    }

    private final int size;
    private final LazyRing<Resource> ring;
    private long allocated;
    private int active;
    private @Nullable Resource current;

    /** @param depth READs and atomics that the peer may have in flight */
    ReadAtomicResources(int depth) {
        ring = new LazyRing<>(depth);
        size = depth == 0 ? 0 : ring.count();
    }

    /**
     * Takes over what another remembers, the newest first as far as there is room.
     *
     * @param depth READs and atomics that the peer may have in flight
     * @param from is used no more
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

    /** The remembered request of a number from {@link #oldest} to before {@link #allocated}. */
    private Resource at(long number) {
        return Objects.requireNonNull(ring.at(number));
    }

    /** Number of the oldest remembered request. */
    private long oldest() {
        return Math.max(0, allocated - size);
    }

    /** Whether the peer may have READs and atomics at all. */
    boolean isEnabled() {
        return size > 0;
    }

    /** Whether one more can be taken without forgetting one that was never fully answered. */
    boolean hasRoom() {
        if (allocated < size) {
            return true;
        }
        Resource oldest = at(allocated);
        return !oldest.isActive || oldest.wasAnswered();
    }

    /** Takes the oldest place, to be filled and then activated. */
    Resource allocate() {
        long number = allocated++;
        Resource place = ring.at(number);
        if (place == null) {
            place = new Resource();
            ring.put(number, place);
        } else if (place.isActive) {
            deactivate(place);
        }
        return place;
    }

    /** Lets a resource be answered from {@code from} up to byte {@code endBytes} of the READ. */
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

    /** Notes that a resource is fully answered, or is not to be. */
    void deactivate(Resource r) {
        r.isActive = false;
        active--;
        if (current == r) {
            current = oldestActive();
        }
    }

    /**
     * Goes on answering, in the order of the PSNs, only what takes no more than so many packets altogether.
     *
     * @return the first that is not to be answered any more, or null
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

    /** Stops all answers. */
    void deactivateAll() {
        for (long i = oldest(); i < allocated; i++) {
            at(i).isActive = false;
        }
        active = 0;
        current = null;
    }

    /** The resource to answer next, in the order of the PSNs, or null. */
    @Nullable
    Resource current() {
        return current;
    }

    /** The remembered request that a sequence belongs to, or null. */
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

package io.rdma4j.acceptance.relay;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;
import java.util.Map;
import java.util.SplittableRandom;

/**
 * One direction of a relay: reads packets from one interface and writes them to the other, immediately or delayed.
 *
 * <p>Waiting packets are stored in a fixed number of slots; packets are dropped while no slot is free, as by a switch.
 * No packet allocates memory. Used by one thread.
 */
final class Direction {
    private static final int SLOTS = 1 << 14;
    private static final int SLOT_BYTES = 2048;
    private static final int BURST = 64;
    /** Maximum time that a packet waits to be overtaken if no other packets follow. */
    private static final long MAX_HOLD_NANOS = 5_000_000;

    private static final long NEVER = Long.MAX_VALUE;
    private static final int ROCE_PORT = 4791;
    private static final int UDP = 17;
    private static final int UDP_BYTES = 8;
    /** Earlier bytes are not covered by the ICRC, or select the destination queue pair. */
    private static final int FIRST_CHANGED_BYTE = 8;

    private static final ValueLayout.OfShort SHORT = ValueLayout.JAVA_SHORT_UNALIGNED.withOrder(ByteOrder.BIG_ENDIAN);

    private final Tun from;
    private final Tun to;
    private final SplittableRandom random;
    private final MemorySegment[] slots = new MemorySegment[SLOTS];
    private final int[] lengths = new int[SLOTS];
    private final int[] freeSlots = new int[SLOTS];
    private int freeCount;
    private final Waiting waiting = new Waiting(SLOTS);
    private final Overtaken overtaken = new Overtaken();
    private Disturbance disturbance = Disturbance.NONE;
    private boolean inBurst;
    private long lastDueNanos = Long.MIN_VALUE;

    private long passed;
    private long lost;
    private long duplicated;
    private long reordered;
    private long corrupted;
    private long overflowed;

    Direction(Tun from, Tun to, long seed) {
        this.from = from;
        this.to = to;
        random = new SplittableRandom(seed);
        MemorySegment memory = Arena.global().allocate((long) SLOTS * SLOT_BYTES, 64);
        for (int i = 0; i < SLOTS; i++) {
            slots[i] = memory.asSlice((long) i * SLOT_BYTES, SLOT_BYTES);
            freeSlots[freeCount++] = i;
        }
    }

    /** Sets the disturbance of further packets. Waiting packets are not affected. */
    void disturb(Disturbance next) {
        disturbance = next;
        inBurst = false;
    }

    /** Returns the numbers of packets by what was done to them. */
    Map<String, Long> counts() {
        return Map.of(
                "passed", passed,
                "lost", lost,
                "duplicated", duplicated,
                "reordered", reordered,
                "corrupted", corrupted,
                "overflowed", overflowed,
                "waiting", (long) (SLOTS - freeCount));
    }

    /** Reads a burst of packets. Returns whether more may be available. */
    boolean receive(long nowNanos) {
        for (int i = 0; i < BURST; i++) {
            if (freeCount == 0) {
                // Reading needs a free slot, so the packet that is due first is sent early.
                release(waiting.poll());
            }
            int slot = freeSlots[freeCount - 1];
            long length = from.read(slots[slot]);
            if (length <= 0) {
                return false;
            }
            freeCount--;
            lengths[slot] = (int) length;
            if (isRoce(slot)) {
                onRoce(slot, nowNanos);
            } else {
                boolean _ = to.write(slots[slot], length);
                free(slot);
            }
        }
        return true;
    }

    private boolean isRoce(int slot) {
        MemorySegment packet = slots[slot];
        int version = packet.get(ValueLayout.JAVA_BYTE, 0) >>> 4;
        int protocol = packet.get(ValueLayout.JAVA_BYTE, version == 4 ? 9 : 6);
        return protocol == UDP && Short.toUnsignedInt(packet.get(SHORT, udp(packet) + 2L)) == ROCE_PORT;
    }

    private static int udp(MemorySegment packet) {
        int first = packet.get(ValueLayout.JAVA_BYTE, 0);
        return first >>> 4 == 4 ? (first & 15) * 4 : 40;
    }

    private void onRoce(int slot, long nowNanos) {
        if (isLost()) {
            lost++;
            free(slot);
            return;
        }
        // Duplicated before a bit is changed, so that a corrupted packet is sent and counted once.
        if (happens(disturbance.duplication())) {
            duplicate(slot, nowNanos);
        }
        if (happens(disturbance.corruption())) {
            corrupted++;
            corrupt(slot);
        }
        if (happens(disturbance.reordering())) {
            reordered++;
            int packets = random.nextInt(1, disturbance.reorderPackets() + 1);
            if (overtaken.add(slot, packets, nowNanos + MAX_HOLD_NANOS)) {
                return;
            }
            reordered--;
        }
        pass(slot, nowNanos);
        overtaken.onPassed(nowNanos);
    }

    private boolean isLost() {
        double burst = disturbance.burstLoss();
        if (burst > 0) {
            double end = 1.0 / disturbance.burstPackets();
            inBurst = inBurst ? !happens(end) : happens(burst * end / (1 - burst));
        }
        return inBurst || happens(disturbance.loss());
    }

    private boolean happens(double fraction) {
        return fraction > 0 && random.nextDouble() < fraction;
    }

    /**
     * Flips one bit after the destination queue pair. Clears the UDP checksum, which would detect the change before the
     * ICRC.
     */
    private void corrupt(int slot) {
        MemorySegment packet = slots[slot];
        int udp = udp(packet);
        int bit = random.nextInt((lengths[slot] - udp - UDP_BYTES - FIRST_CHANGED_BYTE) * 8);
        long at = (long) udp + UDP_BYTES + FIRST_CHANGED_BYTE + bit / 8;
        packet.set(ValueLayout.JAVA_BYTE, at, (byte) (packet.get(ValueLayout.JAVA_BYTE, at) ^ 1 << bit % 8));
        packet.set(SHORT, udp + 6L, (short) 0);
    }

    private void duplicate(int slot, long nowNanos) {
        if (freeCount == 0) {
            overflowed++;
            return;
        }
        duplicated++;
        int copy = freeSlots[--freeCount];
        MemorySegment.copy(slots[slot], 0, slots[copy], 0, lengths[slot]);
        lengths[copy] = lengths[slot];
        if (disturbance.duplicateDelayNanos() > 0) {
            waiting.add(nowNanos + disturbance.duplicateDelayNanos(), copy);
        } else {
            pass(copy, nowNanos);
        }
    }

    /** Sends the packet immediately or after the configured delay. */
    private void pass(int slot, long nowNanos) {
        long delay = disturbance.delayNanos();
        if (delay == 0) {
            send(slot);
            return;
        }
        double fraction = 1 + disturbance.jitter() * (2 * random.nextDouble() - 1);
        lastDueNanos = Math.max(lastDueNanos, nowNanos + (long) (delay * fraction));
        waiting.add(lastDueNanos, slot);
    }

    private void send(int slot) {
        if (to.write(slots[slot], lengths[slot])) {
            passed++;
        } else {
            overflowed++; // the interface is down
        }
        free(slot);
    }

    private void free(int slot) {
        freeSlots[freeCount++] = slot;
    }

    private void release(int slot) {
        if (slot >= 0) {
            send(slot);
        }
    }

    /** Sends all packets that are due. Returns the time when the next packet is due, or {@link Long#MAX_VALUE}. */
    long releaseDue(long nowNanos) {
        overtaken.releaseLate(nowNanos);
        while (waiting.dueNanos() <= nowNanos) {
            release(waiting.poll());
        }
        return Math.min(waiting.dueNanos(), overtaken.dueNanos());
    }

    /** Packets that are held until others have overtaken them. There are few at a time. */
    private final class Overtaken {
        private static final int CAPACITY = 256;

        private final int[] held = new int[CAPACITY];
        private final int[] left = new int[CAPACITY];
        private final long[] lateNanos = new long[CAPACITY];
        private int count;

        boolean add(int slot, int packets, long late) {
            if (count == CAPACITY) {
                return false;
            }
            held[count] = slot;
            left[count] = packets;
            lateNanos[count++] = late;
            return true;
        }

        /** Counts a packet that has overtaken all held ones. */
        void onPassed(long nowNanos) {
            int kept = 0;
            for (int i = 0; i < count; i++) {
                kept = keepOrPass(i, kept, --left[i] == 0, nowNanos);
            }
            count = kept;
        }

        void releaseLate(long nowNanos) {
            int kept = 0;
            for (int i = 0; i < count; i++) {
                kept = keepOrPass(i, kept, lateNanos[i] <= nowNanos, nowNanos);
            }
            count = kept;
        }

        private int keepOrPass(int index, int kept, boolean passes, long nowNanos) {
            if (passes) {
                pass(held[index], nowNanos);
                return kept;
            }
            held[kept] = held[index];
            left[kept] = left[index];
            lateNanos[kept] = lateNanos[index];
            return kept + 1;
        }

        /** Returns when the oldest packet, which is first, is due. All wait equally long. */
        long dueNanos() {
            return count == 0 ? NEVER : lateNanos[0];
        }
    }

    /** Packets that wait for a point in time: a heap ordered by time, then by age. */
    private static final class Waiting {
        private final long[] due;
        private final long[] age;
        private final int[] slot;
        private int count;
        private long nextAge;

        Waiting(int capacity) {
            due = new long[capacity];
            age = new long[capacity];
            slot = new int[capacity];
        }

        long dueNanos() {
            return count == 0 ? NEVER : due[0];
        }

        void add(long dueNanos, int newSlot) {
            int at = count++;
            long ownAge = nextAge++;
            while (at > 0 && dueNanos < due[(at - 1) / 2]) {
                move((at - 1) / 2, at);
                at = (at - 1) / 2;
            }
            set(at, dueNanos, ownAge, newSlot);
        }

        /** Removes and returns the first slot, or returns -1 if there is none. */
        int poll() {
            if (count == 0) {
                return -1;
            }
            int first = slot[0];
            int last = --count;
            int at = 0;
            while (2 * at + 1 < last) {
                int child = 2 * at + 1;
                if (child + 1 < last && isBefore(child + 1, child)) {
                    child++;
                }
                if (!isBefore(child, last)) {
                    break;
                }
                move(child, at);
                at = child;
            }
            set(at, due[last], age[last], slot[last]);
            return first;
        }

        private boolean isBefore(int a, int b) {
            return due[a] < due[b] || due[a] == due[b] && age[a] < age[b];
        }

        private void move(int source, int target) {
            set(target, due[source], age[source], slot[source]);
        }

        private void set(int at, long dueNanos, long ownAge, int newSlot) {
            due[at] = dueNanos;
            age[at] = ownAge;
            slot[at] = newSlot;
        }
    }
}

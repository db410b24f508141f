package io.rdma4j.faults.relay;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;
import java.util.Map;
import java.util.SplittableRandom;

/**
 * One direction of a relay: takes packets from one interface and gives them to the other, at once or later.
 *
 * <p>What waits lies in places of a fixed number; where all are taken a packet is dropped, as by a switch. No packet costs
 * an allocation. Used by one thread.
 */
final class Direction {
    private static final int PLACES = 1 << 14;
    private static final int PLACE_BYTES = 2048;
    private static final int BURST = 64;
    /** How long a packet waits to be overtaken when nothing follows. */
    private static final long OVERTAKEN_WITHIN_NANOS = 5_000_000;

    private static final long NEVER = Long.MAX_VALUE;
    private static final int ROCE_PORT = 4791;
    private static final int UDP = 17;
    private static final int UDP_BYTES = 8;
    /** Bits before are not covered by the ICRC, or lead the packet to another queue pair. */
    private static final int FIRST_CHANGED_BYTE = 8;

    private static final ValueLayout.OfShort SHORT = ValueLayout.JAVA_SHORT_UNALIGNED.withOrder(ByteOrder.BIG_ENDIAN);

    private final Tun from;
    private final Tun to;
    private final SplittableRandom random;
    private final MemorySegment[] places = new MemorySegment[PLACES];
    private final int[] lengths = new int[PLACES];
    private final int[] free = new int[PLACES];
    private int freeCount;
    private final Waiting waiting = new Waiting(PLACES);
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
        MemorySegment memory = Arena.global().allocate((long) PLACES * PLACE_BYTES, 64);
        for (int i = 0; i < PLACES; i++) {
            places[i] = memory.asSlice((long) i * PLACE_BYTES, PLACE_BYTES);
            free[freeCount++] = i;
        }
    }

    /** Changes what is done from now on; what waits already stays as it is. */
    void disturb(Disturbance next) {
        disturbance = next;
        inBurst = false;
    }

    /** What was done so far, by name. */
    Map<String, Long> counts() {
        return Map.of(
                "passed", passed,
                "lost", lost,
                "duplicated", duplicated,
                "reordered", reordered,
                "corrupted", corrupted,
                "overflowed", overflowed,
                "waiting", (long) (PLACES - freeCount));
    }

    /** Takes a burst of packets; whether there may be more. */
    boolean take(long nowNanos) {
        for (int i = 0; i < BURST; i++) {
            if (freeCount == 0) {
                // A place is needed to read into: the oldest one that waits makes room, a little early.
                release(waiting.poll());
            }
            int place = free[freeCount - 1];
            long length = from.read(places[place]);
            if (length <= 0) {
                return false;
            }
            freeCount--;
            lengths[place] = (int) length;
            if (isRoce(place)) {
                onRoce(place, nowNanos);
            } else {
                boolean _ = to.write(places[place], length);
                giveBack(place);
            }
        }
        return true;
    }

    private boolean isRoce(int place) {
        MemorySegment packet = places[place];
        int version = packet.get(ValueLayout.JAVA_BYTE, 0) >>> 4;
        int protocol = packet.get(ValueLayout.JAVA_BYTE, version == 4 ? 9 : 6);
        return protocol == UDP && Short.toUnsignedInt(packet.get(SHORT, udp(packet) + 2L)) == ROCE_PORT;
    }

    private static int udp(MemorySegment packet) {
        int first = packet.get(ValueLayout.JAVA_BYTE, 0);
        return first >>> 4 == 4 ? (first & 15) * 4 : 40;
    }

    private void onRoce(int place, long nowNanos) {
        if (isLost()) {
            lost++;
            giveBack(place);
            return;
        }
        // Before a bit is changed, so that what is spoilt comes once, as it is counted.
        if (happens(disturbance.duplication())) {
            duplicate(place, nowNanos);
        }
        if (happens(disturbance.corruption())) {
            corrupted++;
            corrupt(place);
        }
        if (happens(disturbance.reordering())) {
            reordered++;
            int packets = random.nextInt(1, disturbance.reorderPackets() + 1);
            if (overtaken.add(place, packets, nowNanos + OVERTAKEN_WITHIN_NANOS)) {
                return;
            }
            reordered--;
        }
        pass(place, nowNanos);
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

    private boolean happens(double part) {
        return part > 0 && random.nextDouble() < part;
    }

    /** Changes one bit behind the destination queue pair; the UDP checksum is taken away, which would tell it first. */
    private void corrupt(int place) {
        MemorySegment packet = places[place];
        int udp = udp(packet);
        int bit = random.nextInt((lengths[place] - udp - UDP_BYTES - FIRST_CHANGED_BYTE) * 8);
        long at = (long) udp + UDP_BYTES + FIRST_CHANGED_BYTE + bit / 8;
        packet.set(ValueLayout.JAVA_BYTE, at, (byte) (packet.get(ValueLayout.JAVA_BYTE, at) ^ 1 << bit % 8));
        packet.set(SHORT, udp + 6L, (short) 0);
    }

    private void duplicate(int place, long nowNanos) {
        if (freeCount == 0) {
            overflowed++;
            return;
        }
        duplicated++;
        int copy = free[--freeCount];
        MemorySegment.copy(places[place], 0, places[copy], 0, lengths[place]);
        lengths[copy] = lengths[place];
        if (disturbance.duplicateDelayNanos() > 0) {
            waiting.add(nowNanos + disturbance.duplicateDelayNanos(), copy);
        } else {
            pass(copy, nowNanos);
        }
    }

    /** Lets it go now, or when it has taken as long as it is to take. */
    private void pass(int place, long nowNanos) {
        long delay = disturbance.delayNanos();
        if (delay == 0) {
            send(place);
            return;
        }
        double part = 1 + disturbance.jitter() * (2 * random.nextDouble() - 1);
        lastDueNanos = Math.max(lastDueNanos, nowNanos + (long) (delay * part));
        waiting.add(lastDueNanos, place);
    }

    private void send(int place) {
        if (to.write(places[place], lengths[place])) {
            passed++;
        } else {
            overflowed++; // the interface is down
        }
        giveBack(place);
    }

    private void giveBack(int place) {
        free[freeCount++] = place;
    }

    private void release(int place) {
        if (place >= 0) {
            send(place);
        }
    }

    /** Lets go what is due; when something is due next, or {@link Long#MAX_VALUE}. */
    long releaseDue(long nowNanos) {
        overtaken.releaseLate(nowNanos);
        while (waiting.dueNanos() <= nowNanos) {
            release(waiting.poll());
        }
        return Math.min(waiting.dueNanos(), overtaken.dueNanos());
    }

    /** Packets that wait until others have overtaken them: few at a time. */
    private final class Overtaken {
        private static final int MOST = 256;

        private final int[] held = new int[MOST];
        private final int[] left = new int[MOST];
        private final long[] lateNanos = new long[MOST];
        private int count;

        boolean add(int place, int packets, long late) {
            if (count == MOST) {
                return false;
            }
            held[count] = place;
            left[count] = packets;
            lateNanos[count++] = late;
            return true;
        }

        /** Another packet has gone. */
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

        /** The oldest is first, and all wait equally long. */
        long dueNanos() {
            return count == 0 ? NEVER : lateNanos[0];
        }
    }

    /** Packets that wait for a time: a heap by that, and among equals by age. */
    private static final class Waiting {
        private final long[] due;
        private final long[] age;
        private final int[] place;
        private int count;
        private long nextAge;

        Waiting(int most) {
            due = new long[most];
            age = new long[most];
            place = new int[most];
        }

        long dueNanos() {
            return count == 0 ? NEVER : due[0];
        }

        void add(long dueNanos, int which) {
            int at = count++;
            long mine = nextAge++;
            while (at > 0 && dueNanos < due[(at - 1) / 2]) {
                move((at - 1) / 2, at);
                at = (at - 1) / 2;
            }
            set(at, dueNanos, mine, which);
        }

        /** The first, or -1 if there is none. */
        int poll() {
            if (count == 0) {
                return -1;
            }
            int first = place[0];
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
            set(at, due[last], age[last], place[last]);
            return first;
        }

        private boolean isBefore(int a, int b) {
            return due[a] < due[b] || due[a] == due[b] && age[a] < age[b];
        }

        private void move(int source, int target) {
            set(target, due[source], age[source], place[source]);
        }

        private void set(int at, long dueNanos, long mine, int which) {
            due[at] = dueNanos;
            age[at] = mine;
            place[at] = which;
        }
    }
}

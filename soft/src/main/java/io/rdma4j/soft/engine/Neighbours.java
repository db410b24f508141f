package io.rdma4j.soft.engine;

import io.rdma4j.link.SendBurst;
import java.util.concurrent.atomic.AtomicIntegerArray;

/**
 * The UDP ports at which the other processes of one local address take frames, so that frames between them need not pass
 * through the owner's hands. By slot; who is not in here is reached by the owner. Thread safe.
 */
final class Neighbours {
    /** Where in a frame the uppermost byte of the queue pair number is that it is for: the slot of its process. */
    private static final int SLOT_AT = 5;

    private static final int SLOTS = 256;

    private final long high;
    private final long low;
    private final AtomicIntegerArray ports = new AtomicIntegerArray(SLOTS);

    /** Nobody, yet, at an address in GID form. */
    Neighbours(long high, long low) {
        this.high = high;
        this.low = low;
    }

    /** The process of a slot takes frames at a UDP port; 0 for no more. No process has slot 0, which is queue pair 1's. */
    void put(int slot, int udpPort) {
        if (slot != 0) {
            ports.set(slot & 0xff, udpPort);
        }
    }

    /** Forgets all. */
    void clear() {
        for (int slot = 0; slot < SLOTS; slot++) {
            ports.set(slot, 0);
        }
    }

    /** The UDP port of the process that all frames of a burst are for; 0 if there is none, or they are for several. */
    int portOf(SendBurst burst) {
        if (burst.destinationLow() != low || burst.destinationHigh() != high) {
            return 0;
        }
        int slot = -1;
        for (int i = 0; i < burst.count(); i++) {
            int next = burst.length(i) > SLOT_AT ? burst.buffer().get(burst.offset(i) + SLOT_AT) & 0xff : 0;
            if (slot >= 0 && next != slot) {
                return 0;
            }
            slot = next;
        }
        return slot < 0 ? 0 : ports.get(slot);
    }

    /** Whether a source is the address itself, that is, a process of this host. */
    boolean isHere(long sourceHigh, long sourceLow) {
        return sourceLow == low && sourceHigh == high;
    }
}

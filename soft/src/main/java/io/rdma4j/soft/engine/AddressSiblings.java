package io.rdma4j.soft.engine;

import io.rdma4j.link.SendBurst;
import io.rdma4j.wire.Bth;
import io.rdma4j.wire.Deth;
import io.rdma4j.wire.Icrc;
import io.rdma4j.wire.cm.CmMad;
import java.lang.foreign.MemorySegment;
import java.util.concurrent.atomic.AtomicIntegerArray;

/**
 * The UDP ports at which the other processes of one local address take frames, so that frames between them need not pass
 * through the owner's hands. By slot; who is not in here is reached by the owner. Thread safe.
 */
final class AddressSiblings {
    private static final int MAD_AT = Bth.LENGTH + Deth.LENGTH;
    private static final int SLOTS = 256;

    private final long high;
    private final long low;
    private final AtomicIntegerArray ports = new AtomicIntegerArray(SLOTS);

    /** Nobody, yet, at an address in GID form. */
    AddressSiblings(long high, long low) {
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
        if (isForServices(burst)) {
            return ports.get(slotOfAnswer(burst.segment(), burst.offset(0) + MAD_AT, burst.length(0)));
        }
        int slot = -1;
        for (int i = 0; i < burst.count(); i++) {
            int next = burst.length(i) >= Bth.LENGTH
                    ? Slot.ofQueuePairNumber(Bth.destinationQueuePair(burst.segment(), burst.offset(i)))
                    : 0;
            if (slot >= 0 && next != slot) {
                return 0;
            }
            slot = next;
        }
        return slot < 0 ? 0 : ports.get(slot);
    }

    private static boolean isForServices(SendBurst burst) {
        return burst.count() == 1
                && burst.length(0) > MAD_AT + Icrc.LENGTH
                && Bth.destinationQueuePair(burst.segment(), burst.offset(0)) == Receiver.GSI_QUEUE_PAIR;
    }

    /**
     * The slot in the communication ID that the receiver of a management datagram has chosen. These take the way that data
     * take, or a confirmation would come after the data that it allows. 0, which nobody has, for a request: the owner knows
     * for whom it is.
     */
    private static int slotOfAnswer(MemorySegment memory, int at, int frameBytes) {
        boolean isConnectionManagement = CmMad.check(memory, at, frameBytes - MAD_AT - Icrc.LENGTH) == CmMad.Result.OK;
        return isConnectionManagement ? Slot.ofCommunicationId(CmMad.receiverId(memory, at)) : 0;
    }

    /** Whether a source is the address itself, that is, a process of this host. */
    boolean isHere(long sourceHigh, long sourceLow) {
        return sourceLow == low && sourceHigh == high;
    }
}

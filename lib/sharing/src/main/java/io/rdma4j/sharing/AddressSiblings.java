package io.rdma4j.sharing;

import io.rdma4j.link.Link;
import io.rdma4j.link.SendBurst;
import io.rdma4j.wire.Bth;
import io.rdma4j.wire.Deth;
import io.rdma4j.wire.Frame;
import io.rdma4j.wire.Icrc;
import io.rdma4j.wire.cm.CmMad;
import io.rdma4j.wire.cm.GsiPacket;
import java.lang.foreign.MemorySegment;
import java.util.concurrent.atomic.AtomicIntegerArray;

/**
 * The UDP ports of the other processes that share a local address, by slot.
 *
 * <p>Frames to these ports bypass the owner of the address. A process that is not listed is reached through the owner.
 * Thread safe.
 */
final class AddressSiblings {
    private static final int MAD_AT = Bth.LENGTH + Deth.LENGTH;
    private static final int SLOTS = 256;

    private final long high;
    private final long low;
    private final AtomicIntegerArray ports = new AtomicIntegerArray(SLOTS);

    /** 1 for each process that was only listed by an owner that has ended: the process may also have ended. */
    private final AtomicIntegerArray unconfirmed = new AtomicIntegerArray(SLOTS);

    /** Creates an empty table for an address in GID form. */
    AddressSiblings(long high, long low) {
        this.high = high;
        this.low = low;
    }

    /**
     * Sets the UDP port at which the process of a slot receives, or 0 if it no longer does. Slot 0 is ignored: no
     * process has it, since queue pair 1 belongs to it.
     */
    void put(int slot, int udpPort) {
        if (slot != 0) {
            ports.set(slot & 0xff, udpPort);
            unconfirmed.set(slot & 0xff, 0);
        }
    }

    /** Returns whether the process of a slot is listed, or was listed by an owner that has ended. */
    boolean knows(int slot) {
        return ports.get(slot & 0xff) != 0 || unconfirmed.get(slot & 0xff) != 0;
    }

    /** Forgets the UDP ports, which the next owner will send again. The processes stay known until then. */
    void onOwnerEnded() {
        for (int slot = 0; slot < SLOTS; slot++) {
            if (ports.getAndSet(slot, 0) != 0) {
                unconfirmed.set(slot, 1);
            }
        }
    }

    /** Returns whether an owner that has ended has listed processes that no owner has listed since. */
    boolean hasUnconfirmed() {
        for (int slot = 0; slot < SLOTS; slot++) {
            if (unconfirmed.get(slot) != 0) {
                return true;
            }
        }
        return false;
    }

    /**
     * Sends a burst through a UDP port of this process: directly to its destination process, if that process shares the address
     * and is known. The frames are not modified. Their ICRC covers UDP port 4791, so the receiver restores the destination port.
     */
    void send(Link udp, SendBurst burst) {
        int port = portOf(burst);
        if (port == 0) {
            udp.send(burst);
        } else {
            burst.destinationPort(port);
            udp.send(burst);
            burst.destinationPort(Frame.UDP_PORT);
        }
    }

    /**
     * Returns the UDP port of the process that all frames of a burst are for. Returns 0 if it is unknown, or the frames are for
     * several processes.
     */
    int portOf(SendBurst burst) {
        return burst.destinationLow() == low && burst.destinationHigh() == high ? ports.get(slotOf(burst)) : 0;
    }

    /** Returns the slot of the process that all frames of a burst are for, if its address belongs to a host with slots, otherwise 0. */
    static int slotOf(SendBurst burst) {
        if (isManagementDatagram(burst)) {
            return receiverSlot(burst.segment(), burst.offset(0) + MAD_AT, burst.length(0));
        }
        int slot = -1;
        for (int i = 0; i < burst.receiverCount(); i++) {
            int next = burst.length(i) >= Bth.LENGTH
                    ? Slot.ofQueuePairNumber(Bth.destinationQueuePair(burst.segment(), burst.offset(i)))
                    : 0;
            if (slot >= 0 && next != slot) {
                return 0;
            }
            slot = next;
        }
        return Math.max(slot, 0);
    }

    private static boolean isManagementDatagram(SendBurst burst) {
        return burst.count() == 1
                && burst.length(0) > MAD_AT + Icrc.LENGTH
                && Bth.destinationQueuePair(burst.segment(), burst.offset(0)) == GsiPacket.QUEUE_PAIR;
    }

    /**
     * Returns the slot in the receiver's communication ID of a management datagram. Such datagrams take the same path as data,
     * otherwise a confirmation could arrive after the data that it permits. Returns 0, which is no process' slot, for a request:
     * the owner knows which process it is for.
     */
    private static int receiverSlot(MemorySegment memory, int at, int frameBytes) {
        boolean isConnectionManagement = CmMad.check(memory, at, frameBytes - MAD_AT - Icrc.LENGTH) == CmMad.Result.OK;
        return isConnectionManagement ? Slot.ofCommunicationId(CmMad.receiverId(memory, at)) : 0;
    }

    /** Returns whether a source address is this address, that is, the sender is a process of this host. */
    boolean isThisAddress(long sourceHigh, long sourceLow) {
        return sourceLow == low && sourceHigh == high;
    }
}

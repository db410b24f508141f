package io.rdma4j.sockets.datagram;

import io.rdma4j.wire.rsocket.CompanionHeader;
import io.rdma4j.wire.rsocket.DatagramHeader;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;

/** One local address of a datagram socket, with its queue pair and the slots of its datagrams. Not thread safe. */
public final class LocalEnd {
    /** Posts receive slots to the queue pair. */
    public interface Receives {
        /** Posts a slot as a receive work request. */
        void post(int slot);
    }

    /** Bytes before a received datagram: the header of the IP packet. */
    public static final int ROUTE_BYTES = 40;

    private final DatagramAddress address;
    private final int queuePairNumber;
    private final MemorySegment sendMemory;
    private final MemorySegment header;
    private final Receives receives;
    private final ByteBuffer received;
    private final int stride;
    private final Arrival[] arrivals;
    private final int[] freeSends;
    private int freeSendCount;

    /**
     * Creates an end; {@link #postAll} starts receiving.
     *
     * @param address address and port of the socket
     * @param queuePairNumber the queue pair of the address
     * @param sizes the number of slots
     * @param sendMemory slots of {@link DatagramSizes#SLOT_BYTES} to send from
     * @param receiveMemory slots of {@code receiveStride} bytes to receive into
     * @param receiveStride the size of a receive slot in bytes: {@link #ROUTE_BYTES} more than the longest datagram to
     *     receive
     * @param receives the receiver of the posted slots
     */
    public LocalEnd(
            DatagramAddress address,
            int queuePairNumber,
            DatagramSizes sizes,
            MemorySegment sendMemory,
            MemorySegment receiveMemory,
            int receiveStride,
            Receives receives) {
        this.address = address;
        this.queuePairNumber = queuePairNumber;
        this.sendMemory = sendMemory;
        this.receives = receives;
        this.stride = receiveStride;
        received = receiveMemory.asByteBuffer();
        DatagramHeader self = new DatagramHeader(address.port(), 0, address.high(), address.low());
        ByteBuffer bytes = ByteBuffer.allocate(self.length());
        self.write(bytes, 0);
        header = MemorySegment.ofBuffer(bytes);
        freeSends = new int[sizes.sendSlots()];
        for (int i = 0; i < freeSends.length; i++) {
            freeSends[freeSendCount++] = freeSends.length - 1 - i;
        }
        arrivals = new Arrival[sizes.receiveSlots()];
        for (int i = 0; i < arrivals.length; i++) {
            arrivals[i] = new Arrival(this, i, receiveMemory.asSlice((long) i * stride, stride), address);
        }
    }

    /** Posts all receive slots. Must be called once. */
    public void postAll() {
        for (int i = 0; i < arrivals.length; i++) {
            receives.post(i);
        }
    }

    /** Returns the address and port. */
    public DatagramAddress address() {
        return address;
    }

    /** Returns whether a send slot is free. */
    boolean canSend() {
        return freeSendCount > 0;
    }

    /** Returns whether no send is outstanding. */
    boolean isQuiet() {
        return freeSendCount == freeSends.length;
    }

    int headerBytes() {
        return (int) header.byteSize();
    }

    CompanionHeader companionHeader(int operation) {
        return new CompanionHeader(operation, queuePairNumber, address.high(), address.low());
    }

    /** Copies the header and a datagram into a free slot. The position of {@code data} does not change. */
    int fill(ByteBuffer data) {
        int slot = freeSends[--freeSendCount];
        long at = (long) slot * DatagramSizes.SLOT_BYTES;
        MemorySegment.copy(header, 0, sendMemory, at, header.byteSize());
        MemorySegment.copy(MemorySegment.ofBuffer(data), 0, sendMemory, at + header.byteSize(), data.remaining());
        return slot;
    }

    void freeSend(int slot) {
        freeSends[freeSendCount++] = slot;
    }

    void postReceive(int slot) {
        receives.post(slot);
    }

    Arrival arrival(int slot) {
        return arrivals[slot];
    }

    ByteBuffer received() {
        return received;
    }

    int receivedAt(int slot) {
        return slot * stride;
    }
}

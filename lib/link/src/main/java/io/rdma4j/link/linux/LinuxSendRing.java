package io.rdma4j.link.linux;

import io.rdma4j.link.SendBurst;
import io.rdma4j.link.SendRing;
import io.rdma4j.link.ring.RingLayout;
import io.rdma4j.link.ring.RingWriter;
import java.io.IOException;

/** A ring that another process reads. */
final class LinuxSendRing implements SendRing {
    /** The capacity: several windows of a connection, and less than the cache that processors share. */
    private static final int CAPACITY_BYTES = 1 << 20;

    private final SharedMemory memory;
    private final RingWriter writer;
    private final RingSocket socket;
    private boolean closed;

    /** The reader waits and was not woken: there was no memory for the call. */
    private boolean mustWake;

    private LinuxSendRing(SharedMemory memory, RingSocket socket) {
        this.memory = memory;
        this.socket = socket;
        writer = new RingWriter(memory.segment());
    }

    /**
     * Creates the memory and sends its descriptor.
     *
     * @throws IOException if there is no memory, or the other process does not accept it
     */
    static LinuxSendRing handOver(Socket connected, long sourceHigh, long sourceLow) throws IOException {
        SharedMemory memory = SharedMemory.create(RingLayout.RECORDS + CAPACITY_BYTES);
        if (!new RingGreeting().send(connected, memory.descriptor(), sourceHigh, sourceLow)) {
            memory.close();
            throw new IOException("the other process does not accept a ring");
        }
        memory.closeDescriptor();
        LinuxSendRing ring = new LinuxSendRing(memory, new RingSocket(connected));
        connected.onSetClose(ring::close);
        return ring;
    }

    @Override
    public boolean send(SendBurst burst, int sourcePort) {
        if (closed || !writer.write(burst, sourcePort)) {
            return false;
        }
        mustWake |= writer.mustWakeReader();
        if (mustWake) {
            socket.wake();
            mustWake = false;
        }
        return true;
    }

    @Override
    public boolean hasRoom(int bytes) {
        return !closed && writer.hasRoomFor(bytes);
    }

    @Override
    public boolean isEnded() {
        return socket.isEnded() || writer.isBroken();
    }

    @Override
    public void checkEnd() {
        socket.checkEnd();
    }

    @Override
    public void close() {
        if (!closed) {
            closed = true;
            socket.close();
            memory.close();
        }
    }
}

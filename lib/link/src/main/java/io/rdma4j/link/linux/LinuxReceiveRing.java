package io.rdma4j.link.linux;

import io.rdma4j.link.ReceiveBurst;
import io.rdma4j.link.ReceiveRing;
import io.rdma4j.link.ring.RingReader;
import io.rdma4j.wire.Frame;

/** A ring that another process writes. */
final class LinuxReceiveRing implements ReceiveRing {
    private final LinuxLinkSet set;
    private final SharedMemory memory;
    private final RingReader reader;
    private final RingSocket socket;
    private final long sourceHigh;
    private final long sourceLow;
    private boolean closed;

    LinuxReceiveRing(
            LinuxLinkSet set,
            SharedMemory memory,
            boolean copiesAll,
            Socket accepted,
            long sourceHigh,
            long sourceLow) {
        this.set = set;
        this.memory = memory;
        this.sourceHigh = sourceHigh;
        this.sourceLow = sourceLow;
        reader = new RingReader(memory.segment(), copiesAll);
        socket = new RingSocket(accepted);
        set.add(this);
    }

    @Override
    public int poll(ReceiveBurst burst, long destinationHigh, long destinationLow, int maximum) {
        if (closed) {
            return 0;
        }
        int first = burst.count();
        int added = reader.poll(burst, maximum);
        for (int i = first; i < first + added; i++) {
            Frame frame = burst.frame(i);
            frame.sourceHigh = sourceHigh;
            frame.sourceLow = sourceLow;
            frame.destinationHigh = destinationHigh;
            frame.destinationLow = destinationLow;
        }
        return added;
    }

    @Override
    public long written() {
        return closed ? 0 : reader.written();
    }

    @Override
    public boolean hasReached(long written) {
        return closed || reader.hasReached(written);
    }

    /** Called by the waiting thread under the lock of the set: makes the writer wake it, or stop doing so. */
    boolean announceWait(boolean begins) {
        if (begins) {
            return reader.beginWait();
        }
        reader.endWait();
        return true;
    }

    @Override
    public boolean isEnded() {
        return socket.isEnded() || reader.isBroken();
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
            set.remove(this, memory);
        }
    }
}

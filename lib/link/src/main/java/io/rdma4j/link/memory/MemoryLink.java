package io.rdma4j.link.memory;

import io.rdma4j.link.Flow;
import io.rdma4j.link.LinkCapabilities;
import io.rdma4j.link.ReceiveBurst;
import io.rdma4j.link.SendBurst;
import io.rdma4j.link.host.GidAddresses;
import io.rdma4j.link.internal.AbstractLink;
import io.rdma4j.link.internal.SourceAddress;
import io.rdma4j.link.internal.UdpHeaders;
import io.rdma4j.wire.Frame;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** A link of a {@link MemoryNetwork}: a ring of slots that senders fill and the receiver empties. */
final class MemoryLink extends AbstractLink implements MemoryLinkSet.Member {
    private static final int SLOTS = 512;
    private static final int SLOT_BYTES = SendBurst.MAX_FRAME_BYTES;

    private final MemoryLinkSet set;
    private final SourceAddress source;
    private final LinkCapabilities capabilities;

    private final MemorySegment ring = Arena.ofAuto().allocate((long) SLOTS * SLOT_BYTES, 64);
    private final ByteBuffer ringView = ring.asByteBuffer().order(ByteOrder.BIG_ENDIAN);
    private final Frame[] slots = new Frame[SLOTS];
    /** Number of slots filled so far. */
    private long filled;

    private long taken;
    /** Number of slots that the receiver no longer reads. */
    private long released;

    private boolean closed;

    MemoryLink(MemoryLinkSet set, InetSocketAddress local) {
        super(local);
        this.set = set;
        this.capabilities = new LinkCapabilities(set.network().mtuBytes(), 1, false, true);
        this.source = new SourceAddress(this);
        for (int i = 0; i < SLOTS; i++) {
            slots[i] = new Frame();
        }
    }

    @Override
    public LinkCapabilities capabilities() {
        return capabilities;
    }

    @Override
    public void send(SendBurst burst) {
        if (!maySend(burst, !isClosed())) {
            return;
        }
        List<MemoryLink> receivers = set.network()
                .receivers(new InetSocketAddress(
                        GidAddresses.address(burst.destinationHigh(), burst.destinationLow(), destinationScope(burst)),
                        burst.destinationPort()));
        int headers = ipv4 ? UdpHeaders.IPV4_BYTES : UdpHeaders.IPV6_BYTES;
        for (int i = 0; i < burst.count(); i++) {
            Frame frame = source.complete(burst, i);
            if (headers + frame.length > capabilities.mtuBytes()) {
                statistics.sendFailures.increment();
                continue;
            }
            // As on a network, the sender is not informed if there is no receiver or the receiver does not keep up.
            statistics.sentFrames.increment();
            set.network().observer().accept(frame);
            for (MemoryLink receiver : receivers) {
                if (receiver.offer(frame)) {
                    receiver.set.inputArrived();
                } else {
                    set.network().conditions().onOverflow(frame);
                }
            }
        }
    }

    private synchronized boolean offer(Frame frame) {
        if (frame.length > SLOT_BYTES) {
            statistics.oversizeDatagrams.increment();
            return false;
        }
        if (closed || filled - released == SLOTS) {
            return false;
        }
        int slot = (int) (filled % SLOTS);
        MemorySegment.copy(frame.segment, frame.offset, ring, (long) slot * SLOT_BYTES, frame.length);
        slots[slot].set(frame);
        slots[slot].segment = ring;
        slots[slot].buffer = ringView;
        slots[slot].offset = slot * SLOT_BYTES;
        filled++;
        return true;
    }

    @Override
    public @Nullable Flow openFlow(int sourcePort) {
        return new MemoryFlow(sourcePort);
    }

    /** A source port that nothing is bound to. */
    private final class MemoryFlow implements Flow {
        private final int sourcePort;
        private boolean isClosed;

        MemoryFlow(int sourcePort) {
            this.sourcePort = sourcePort;
        }

        @Override
        public int sourcePort() {
            return sourcePort;
        }

        @Override
        public boolean isOpen() {
            return !isClosed && !MemoryLink.this.isClosed();
        }

        @Override
        public void close() {
            isClosed = true;
        }
    }

    @Override
    public synchronized boolean hasInput() {
        return taken < filled;
    }

    private synchronized boolean isClosed() {
        return closed;
    }

    @Override
    public synchronized int poll(ReceiveBurst burst) {
        burst.clear();
        released = taken;
        while (!closed && taken < filled && !burst.isFull()) {
            burst.add().set(slots[(int) (taken % SLOTS)]);
            taken++;
        }
        statistics.receivedFrames.add(burst.count());
        return burst.count();
    }

    @Override
    public void close() {
        synchronized (this) {
            closed = true;
            taken = filled;
        }
        set.network().unbind(this);
        set.remove(this);
    }

    @Override
    public String toString() {
        return "memory link " + localAddress();
    }
}

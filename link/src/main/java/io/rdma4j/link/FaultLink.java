package io.rdma4j.link;

import io.rdma4j.wire.Frame;
import io.rdma4j.wire.Icrc;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;
import java.util.function.LongSupplier;

/**
 * A link that loses, doubles, reorders, corrupts and delays frames in both directions, the same way each time for the same
 * seed and the same frames. For a trial of what a bad network does; see {@link FaultSpec}.
 *
 * <p>Corruption changes one bit of the sealed frame, after any checksum of UDP. Over IPv4 a receiver that cannot see the
 * IPv4 identification checks the ICRC with 16 bits of strength only, so about one corrupted frame in 65 536 passes.
 *
 * <p>Frames that wait go on by {@link #poll} or {@link #send}: poll at {@link #nextDeadlineNanos}. A frame that waits for
 * later ones, where none come, goes on after 10 ms.
 */
public final class FaultLink extends ForwardingLink {
    /** What one datagram could hold over IPv6. */
    private static final int ONWARD_BYTES = 65_535 - 48;

    private final LongSupplier nanoClock;
    private final SourceAddress source;
    private final FaultQueue outbound;
    private final FaultQueue inbound;
    private final Icrc icrc = new Icrc();
    /** What goes on together, as it was sent together. */
    private final SendBurst onward = new SendBurst(Arena.ofAuto(), ONWARD_BYTES);

    private final ReceiveBurst arrived = new ReceiveBurst(64);
    /** Frames that the caller's burst points into. */
    private final List<FaultQueue.Held> lent = new ArrayList<>();

    private boolean more;

    /**
     * Wraps a link.
     *
     * @param inner the link that gets the faults
     * @param spec what faults
     * @param nanoClock the clock of delays and of {@link #nextDeadlineNanos}, such as {@link System#nanoTime}
     */
    public FaultLink(Link inner, FaultSpec spec, LongSupplier nanoClock) {
        super(inner);
        this.nanoClock = nanoClock;
        this.source = new SourceAddress(inner);
        this.outbound = new FaultQueue(spec, spec.seed());
        this.inbound = new FaultQueue(spec, spec.seed() ^ FaultQueue.INBOUND_SEED);
    }

    /** What was done to the frames sent. */
    public FaultCounts outboundCounts() {
        return outbound.counts();
    }

    /** What was done to the frames received. */
    public FaultCounts inboundCounts() {
        return inbound.counts();
    }

    @Override
    public void send(SendBurst burst) {
        long now = nanoClock.getAsLong();
        for (int i = 0; i < burst.count(); i++) {
            outbound.accept(source.complete(burst, i), burst.destinationScope(), now);
        }
        sendDue(now);
    }

    private void sendDue(long now) {
        for (FaultQueue.Held entry = outbound.next(now); entry != null; entry = outbound.next(now)) {
            append(entry);
            outbound.recycle(entry);
        }
        flush();
    }

    /** Puts a frame behind those that go on together, if it can go with them. */
    private void append(FaultQueue.Held entry) {
        Frame frame = entry.frame;
        if (!goesWithOnward(entry)) {
            flush();
            onward.destination(frame.destinationHigh, frame.destinationLow, entry.scope, frame.trafficClass);
            onward.destinationPort(frame.destinationPort);
        }
        if (inner.capabilities().identificationCountsSegments()) {
            // Its place among the others is not what it was when some of them are lost.
            icrc.changeIdentification(frame, onward.count());
        }
        MemorySegment.copy(frame.segment, frame.offset, onward.segment(), onward.tail(), frame.length);
        onward.append(frame.length);
    }

    private boolean goesWithOnward(FaultQueue.Held entry) {
        Frame frame = entry.frame;
        return onward.accepts(frame.length)
                && onward.hasRoom(inner.capabilities().maxSegments())
                && onward.destinationLow() == frame.destinationLow
                && onward.destinationHigh() == frame.destinationHigh
                && onward.destinationPort() == frame.destinationPort
                && onward.destinationScope() == entry.scope
                && onward.trafficClass() == frame.trafficClass;
    }

    private void flush() {
        if (onward.count() > 0) {
            inner.send(onward);
            onward.clear();
        }
    }

    @Override
    public int poll(ReceiveBurst burst) {
        burst.clear();
        for (int i = 0; i < lent.size(); i++) {
            inbound.recycle(lent.get(i));
        }
        lent.clear();
        long now = nanoClock.getAsLong();
        sendDue(now);
        int count = inner.poll(arrived);
        more = count == arrived.capacity();
        for (int i = 0; i < count; i++) {
            inbound.accept(arrived.frame(i), 0, now);
        }
        while (!burst.isFull()) {
            FaultQueue.Held entry = inbound.next(now);
            if (entry == null) {
                break;
            }
            lent.add(entry);
            burst.add().set(entry.frame);
        }
        return burst.count();
    }

    @Override
    public long nextDeadlineNanos() {
        if (more) {
            // All that was there may have vanished, so that the caller saw an empty poll with frames still waiting.
            return nanoClock.getAsLong();
        }
        return Math.min(inner.nextDeadlineNanos(), Math.min(outbound.nextDeadlineNanos(), inbound.nextDeadlineNanos()));
    }
}

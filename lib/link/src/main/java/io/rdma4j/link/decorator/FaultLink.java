package io.rdma4j.link.decorator;

import io.rdma4j.link.ForwardingLink;
import io.rdma4j.link.Link;
import io.rdma4j.link.ReceiveBurst;
import io.rdma4j.link.SendBurst;
import io.rdma4j.link.internal.SourceAddress;
import io.rdma4j.wire.Frame;
import io.rdma4j.wire.Icrc;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.function.Consumer;
import java.util.function.LongSupplier;
import java.util.function.Supplier;

/**
 * A link that drops, duplicates, reorders, corrupts and delays frames in both directions, and sends them at a rate. The same seed
 * and frames give the same faults. For tests under bad network conditions; see {@link FaultSpec}.
 *
 * <p>Corruption flips one bit of the sealed frame, after any UDP checksum is computed. Over IPv4 a receiver that does not see the
 * IPv4 identification checks the ICRC with only 16 bits of strength, so about one corrupted frame in 65 536 passes.
 *
 * <p>Delayed frames are forwarded by {@link #poll} or {@link #send}, so the caller polls at {@link #nextDeadlineNanos}.
 * A reordered frame is forwarded after 10 ms if no later frames follow it.
 */
public final class FaultLink extends ForwardingLink {
    /** The largest UDP payload over IPv6. */
    private static final int OUTGOING_BYTES = 65_535 - 48;

    private final LongSupplier nanoClock;
    private final SourceAddress source;
    private final FaultQueue outbound;
    private final FaultQueue inbound;
    private final Icrc icrc = new Icrc();
    /** Frames forwarded in one burst, like the one they were sent in. */
    private final SendBurst outgoing = new SendBurst(Arena.ofAuto(), OUTGOING_BYTES);

    private final ReceiveBurst received = new ReceiveBurst(64);
    /** Frames that the caller's burst points into. */
    private final List<FaultQueue.HeldFrame> lent = new ArrayList<>();

    private boolean morePending;

    /**
     * Wraps a link.
     *
     * @param inner the link to inject faults into
     * @param spec the faults to inject
     * @param nanoClock the clock of delays and of {@link #nextDeadlineNanos}, such as {@link System#nanoTime}
     */
    public FaultLink(Link inner, FaultSpec spec, LongSupplier nanoClock) {
        this(inner, () -> spec, () -> spec, spec.seed(), nanoClock, _ -> {});
    }

    /**
     * Wraps a link with faults of each direction, which may change at any time. Their seeds are not used.
     *
     * @param inner the link to inject faults into
     * @param outbound returns the faults to inject into sent frames
     * @param inbound returns the faults to inject into received frames
     * @param seed the seed of both directions
     * @param nanoClock the clock of delays and of {@link #nextDeadlineNanos}
     * @param dropped is called with each frame that is dropped, by the thread that drives the link; the frame is valid during
     *     the call
     */
    public FaultLink(
            Link inner,
            Supplier<FaultSpec> outbound,
            Supplier<FaultSpec> inbound,
            long seed,
            LongSupplier nanoClock,
            Consumer<Frame> dropped) {
        super(inner);
        this.nanoClock = nanoClock;
        this.source = new SourceAddress(inner);
        this.outbound = new FaultQueue(outbound, seed, dropped);
        this.inbound = new FaultQueue(inbound, seed ^ FaultQueue.INBOUND_SEED, dropped);
    }

    /** Returns the counts of faults injected into sent frames. */
    public FaultCounts outboundCounts() {
        return outbound.counts();
    }

    /** Returns the counts of faults injected into received frames. */
    public FaultCounts inboundCounts() {
        return inbound.counts();
    }

    @Override
    public void send(SendBurst burst) {
        if (outbound.isIdle()) {
            inner.send(burst);
            return;
        }
        long now = nanoClock.getAsLong();
        for (int i = 0; i < burst.count(); i++) {
            outbound.accept(source.complete(burst, i), burst.destinationScope(), burst.flow(), now);
        }
        sendDue(now);
    }

    private void sendDue(long now) {
        for (FaultQueue.HeldFrame entry = outbound.next(now); entry != null; entry = outbound.next(now)) {
            append(entry);
            outbound.recycle(entry);
        }
        flush();
    }

    /** Appends a frame to the outgoing burst, after sending the burst first if the frame does not fit. */
    private void append(FaultQueue.HeldFrame entry) {
        Frame frame = entry.frame;
        if (!fitsOutgoing(entry)) {
            flush();
            outgoing.destination(frame.destinationHigh, frame.destinationLow, entry.scope, frame.trafficClass);
            outgoing.destinationPort(frame.destinationPort);
            outgoing.ipHeader(frame.hopLimit, frame.flowLabel);
            outgoing.flow(entry.flow);
        }
        if (inner.capabilities().identificationCountsSegments()) {
            // The frame's index in the burst changes when earlier frames are dropped.
            icrc.changeIdentification(frame, outgoing.count());
        }
        MemorySegment.copy(frame.segment, frame.offset, outgoing.segment(), outgoing.tail(), frame.length);
        outgoing.append(frame.length);
    }

    private boolean fitsOutgoing(FaultQueue.HeldFrame entry) {
        Frame frame = entry.frame;
        return outgoing.accepts(frame.length)
                && outgoing.hasRoom(inner.capabilities().maxSegments())
                && outgoing.destinationLow() == frame.destinationLow
                && outgoing.destinationHigh() == frame.destinationHigh
                && outgoing.destinationPort() == frame.destinationPort
                && outgoing.destinationScope() == entry.scope
                && outgoing.trafficClass() == frame.trafficClass
                && outgoing.hopLimit() == frame.hopLimit
                && outgoing.flowLabel() == frame.flowLabel
                && Objects.equals(outgoing.flow(), entry.flow);
    }

    private void flush() {
        if (outgoing.count() > 0) {
            inner.send(outgoing);
            outgoing.clear();
        }
    }

    @Override
    public int poll(ReceiveBurst burst) {
        burst.clear();
        for (int i = 0; i < lent.size(); i++) {
            inbound.recycle(lent.get(i));
        }
        lent.clear();
        if (outbound.isIdle() && inbound.isIdle()) {
            morePending = false;
            return inner.poll(burst);
        }
        long now = nanoClock.getAsLong();
        sendDue(now);
        int count = inner.poll(received);
        morePending = count == received.capacity();
        for (int i = 0; i < count; i++) {
            inbound.accept(received.frame(i), 0, null, now);
        }
        while (!burst.isFull()) {
            FaultQueue.HeldFrame entry = inbound.next(now);
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
        if (morePending) {
            // All frames of the last poll may have been dropped, so the caller saw an empty poll with frames still
            // pending.
            return nanoClock.getAsLong();
        }
        return Math.min(inner.nextDeadlineNanos(), Math.min(outbound.nextDeadlineNanos(), inbound.nextDeadlineNanos()));
    }
}

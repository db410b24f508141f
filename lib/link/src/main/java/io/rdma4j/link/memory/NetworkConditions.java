package io.rdma4j.link.memory;

import io.rdma4j.link.Link;
import io.rdma4j.link.decorator.FaultLink;
import io.rdma4j.link.decorator.FaultSpec;
import io.rdma4j.wire.Frame;
import java.util.function.Consumer;
import java.util.function.LongSupplier;

/**
 * The faults and rates of a {@link MemoryNetwork}, which may change at any time. Thread safe.
 *
 * <p>Loss, duplication, reordering, corruption and delay apply once for each receiver of a frame, and the rate to each link in both
 * directions.
 */
public final class NetworkConditions {
    private static final long SEED_STEP = 0x9e37_79b9_7f4a_7c15L;

    private final LongSupplier nanoClock;
    private volatile Consumer<Frame> dropped = _ -> {};
    private volatile FaultSpec inbound = FaultSpec.NONE;
    private volatile FaultSpec outbound = FaultSpec.NONE;

    /**
     * Creates conditions without faults.
     *
     * @param nanoClock the clock of delays and rates, in nanoseconds
     */
    public NetworkConditions(LongSupplier nanoClock) {
        this.nanoClock = nanoClock;
    }

    /** Changes the conditions. The seed has an effect on links that are opened later. */
    public void change(FaultSpec faults) {
        inbound = faults;
        outbound = faults.rateAlone();
    }

    /** Returns the current conditions. */
    public FaultSpec faults() {
        return inbound;
    }

    /**
     * Observes the frames that the network drops, and those that a receiver has no space for. The observer is called by a thread
     * that drives a link; the frame is valid during the call.
     */
    public void observeDropped(Consumer<Frame> observer) {
        dropped = observer;
    }

    /** Reports a frame that a receiver had no space for. */
    void onOverflow(Frame frame) {
        dropped.accept(frame);
    }

    /** Returns a link that applies the conditions to its frames. Each address has its own random numbers. */
    Link apply(Link link) {
        long seed = inbound.seed() + SEED_STEP * link.localAddress().hashCode();
        return new FaultLink(link, () -> outbound, () -> inbound, seed, nanoClock, frame -> dropped.accept(frame));
    }
}

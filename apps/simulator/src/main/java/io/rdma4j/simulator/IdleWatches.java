package io.rdma4j.simulator;

import io.rdma4j.simulator.network.NetworkObserver;
import io.rdma4j.simulator.network.VirtualNetwork;
import io.rdma4j.wire.Frame;
import io.rdma4j.wire.Icrc;
import io.rdma4j.wire.Opcode;
import java.util.HashMap;
import java.util.Map;

/** The checks of the keep-alives of a run. It observes the network to record when packets arrive at the sides. */
final class IdleWatches implements NetworkObserver {
    private static final int DESTINATION_AT = 4;
    private static final int NUMBER_MASK = 0xff_ffff;
    private static final int CLASS_SHIFT = 5;

    private final VirtualNetwork network;
    private final Map<Long, IdleWatch> watches = new HashMap<>();
    private final Icrc icrc = new Icrc();
    private int givenUp;

    IdleWatches(VirtualNetwork network) {
        this.network = network;
    }

    /** Adds the check of a side. */
    void add(IdleWatch watch) {
        watches.put(watch.key(), watch);
    }

    /** Removes the check of a side whose connection is over. */
    void remove(IdleWatch watch) {
        watches.remove(watch.key(), watch);
    }

    /** Counts a peer that was given up. */
    void onGivenUp() {
        givenUp++;
    }

    /** Returns the number of peers that were given up. */
    int givenUp() {
        return givenUp;
    }

    @Override
    public void onFrame(long deliveryNanos, Fate fate, Frame frame) {
        if (watches.isEmpty() || fate == Fate.LOST || frame.length < Opcode.RC_ACKNOWLEDGE.headerLength()) {
            return;
        }
        boolean isReliable = frame.buffer.get(0) >>> CLASS_SHIFT == 0;
        int number = frame.buffer.getInt(DESTINATION_AT) & NUMBER_MASK;
        IdleWatch watch = isReliable ? watches.get(IdleWatch.key(frame.destinationLow, number)) : null;
        if (watch != null && (!frame.isSealed || icrc.verify(frame))) {
            watch.onPacket(network.nowNanos()); // the time at which the host reads it
        }
    }
}

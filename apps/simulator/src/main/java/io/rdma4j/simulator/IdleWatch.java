package io.rdma4j.simulator;

import io.rdma4j.simulator.network.SimulatedHost;

/**
 * Checks the keep-alive of one side of a reliable connection: whether and when it gives up its peer.
 *
 * <p>The side may give up only after nothing has arrived for the interval and the timeouts of all probes. In this case
 * the network has lost each probe or its answer, or the peer is dead. The side must have given up at the end of this
 * time.
 */
final class IdleWatch {
    /** With tail-loss probes, a shorter timeout is multiplied by {@link #SHORT_TIMEOUTS}, up to this limit. */
    private static final long LONGEST_SHORT_NANOS = 50_000_000;

    private static final int SHORT_TIMEOUTS = 4;

    private final String name;
    private final SimulatedHost host;
    private final int queuePairNumber;
    private final long intervalNanos;
    private long silenceNanos;
    private long heardNanos;
    private long busyNanos;
    private boolean isPaused;
    private boolean hasStarted;

    /**
     * Creates the check of a side that has not started.
     *
     * @param intervalNanos interval of the keep-alive
     */
    IdleWatch(String name, SimulatedHost host, int queuePairNumber, long intervalNanos) {
        this.name = name;
        this.host = host;
        this.queuePairNumber = queuePairNumber;
        this.intervalNanos = intervalNanos;
    }

    /** Returns the interval of the keep-alive. */
    long intervalNanos() {
        return intervalNanos;
    }

    /** Returns the key of the packets to a queue pair. */
    static long key(long addressLow, int queuePairNumber) {
        return (addressLow & 0xffff_ffffL) << 24 | queuePairNumber;
    }

    long key() {
        return key(host.addressLow(), queuePairNumber);
    }

    /** Sets the timeout of a request and the number of its repetitions, which also apply to a probe. */
    void onReady(int timeoutExponent, boolean tailLossProbes, int retries) {
        long timeoutNanos = 4096L << timeoutExponent;
        if (tailLossProbes && timeoutNanos < LONGEST_SHORT_NANOS) {
            timeoutNanos = Math.min(LONGEST_SHORT_NANOS, SHORT_TIMEOUTS * timeoutNanos);
        }
        silenceNanos = intervalNanos + (retries + 1) * timeoutNanos;
    }

    /** Notes an intact packet that was delivered to the queue pair. A paused host reads the packet later. */
    void onPacket(long nowNanos) {
        if (!host.isPaused()) {
            heardNanos = nowNanos;
        }
    }

    /** Notes that the host is paused. */
    void onPaused() {
        isPaused = true;
    }

    /**
     * Checks that the side has not missed the time to give up.
     *
     * @param isBusy true if requests are in flight, whose own timeouts detect a dead peer
     * @return true at the first call, when the caller must start the keep-alive
     */
    boolean work(long nowNanos, boolean isBusy) {
        if (isBusy || isPaused || !hasStarted) {
            busyNanos = nowNanos;
            isPaused = false;
        }
        if (nowNanos > Math.max(heardNanos, busyNanos) + silenceNanos) {
            throw new SimulationFailure(name + ": nothing arrives for " + (nowNanos - heardNanos)
                    + " ns, but its peer is not given up within " + silenceNanos + " ns: " + this);
        }
        boolean isFirst = !hasStarted;
        if (isFirst) {
            hasStarted = true;
            heardNanos = nowNanos;
        }
        return isFirst;
    }

    /**
     * Checks that the side was permitted to give up.
     *
     * @param hasReason true if the peer or the network between both has failed
     */
    void onGivenUp(long nowNanos, boolean hasReason) {
        if (!hasStarted || !hasReason || nowNanos < heardNanos + silenceNanos) {
            throw new SimulationFailure(
                    name + ": its peer is given up " + (nowNanos - heardNanos) + " ns after its last packet: " + this);
        }
    }

    @Override
    public String toString() {
        return "interval " + intervalNanos + " ns, last packet at " + heardNanos + " ns, busy until " + busyNanos
                + " ns";
    }
}

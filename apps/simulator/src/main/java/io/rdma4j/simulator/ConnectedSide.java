package io.rdma4j.simulator;

import io.rdma4j.simulator.network.SimulatedHost;
import io.rdma4j.transport.QueuePairMachine;
import io.rdma4j.wire.Psn;
import java.util.SplittableRandom;

/**
 * One side of a connection in a run, of any type.
 *
 * <p>It consists of a queue pair, the application that uses it, and the model of the expected result. The owner of the
 * connection first calls {@link #setPeer} on both sides. It calls {@link #ready} when the peer's reply has arrived,
 * {@link #start} when the connection is established, and then {@link #work} repeatedly. It calls {@link #end} when the
 * connection is over, and {@link #checkEnd} at the end of the run.
 */
interface ConnectedSide {
    /** Returns the side's name for messages. */
    String name();

    /** Returns the side's host. */
    SimulatedHost host();

    /** Returns the side's queue pair. */
    QueuePairMachine machine();

    /** Returns the parameters that the peer needs. */
    ConnectionTerms terms();

    /** Returns the application's private data for the peer, at most 64 bytes. */
    byte[] connectData();

    /** Sets the peer, whose model this side shares; called before any work is posted. */
    void setPeer(ConnectedSide peer);

    /**
     * Makes the queue pair ready to receive and to send.
     *
     * @param peer the peer's parameters
     * @param connectData the peer's private data, possibly with padding
     * @param mtuBytes path MTU
     */
    void ready(ConnectionTerms peer, byte[] connectData, int mtuBytes);

    /** Allows requests to be posted. */
    void start();

    /**
     * Returns the interval at which the side probes its peer while the connection is idle, or 0 if it has no
     * keep-alive.
     */
    default long keepAliveNanos() {
        return 0;
    }

    /** Notes that the host is paused, instead of {@link #work}. */
    default void onPaused() {}

    /** Does some of the pending work. */
    void work(long nowNanos);

    /**
     * Returns whether all planned work is posted, completed and received, so that the connection can end without loss.
     */
    boolean isDone();

    /** Returns whether all planned work is done and none of it failed. */
    boolean isComplete();

    /** Returns whether the application wants to end the connection. */
    boolean wantsToEnd();

    /** Ends the connection and flushes the queue pair. Further calls have no effect. */
    void end();

    /** Returns whether {@link #work} has nothing left to do. */
    boolean isClosed();

    /** Marks the side as killed: it sends nothing more. */
    void kill();

    /** Returns whether the side was killed. */
    boolean isKilled();

    /**
     * Runs the final checks and releases the side's resources.
     *
     * @throws SimulationFailure if a check fails
     */
    void checkEnd();

    /** Returns whether the peer's first packet has arrived. */
    boolean hasReceived();

    /** Connects two sides without a connection manager. */
    static void connect(ConnectedSide a, ConnectedSide b, SplittableRandom random) {
        int mtuBytes = 256 << random.nextInt(5);
        a.setPeer(b);
        b.setPeer(a);
        a.ready(b.terms(), b.connectData(), mtuBytes);
        b.ready(a.terms(), a.connectData(), mtuBytes);
        a.start();
        b.start();
    }

    /** Returns a random first PSN. About half of them wrap around soon. */
    static int startingPsn(SplittableRandom random) {
        return random.nextBoolean() ? Psn.MASK - random.nextInt(40) : random.nextInt(Psn.COUNT);
    }

    /** Returns the path from a host to a peer. */
    static QueuePairMachine.Peer path(SimulatedHost host, ConnectionTerms peer) {
        return new QueuePairMachine.Peer(
                host.addressHigh(), host.addressLow(), peer.high(), peer.low(), 0, peer.queuePairNumber(), 0, 64, 0);
    }
}

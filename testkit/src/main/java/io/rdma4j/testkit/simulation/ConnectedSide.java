package io.rdma4j.testkit.simulation;

import io.rdma4j.testkit.SimulatedHost;
import io.rdma4j.transport.QueuePairMachine;
import io.rdma4j.wire.Psn;
import java.util.SplittableRandom;

/**
 * One side of a connection in a run, of any type: its queue pair, the application that works on it, and the model of what
 * must come of that. Who connects it calls, in this order: {@link #meet} on both sides, {@link #ready} when the peer's
 * answer is there, {@link #start} when the connection is established, {@link #work} again and again, {@link #end} when it is
 * over, and {@link #checkEnd} when everything is.
 */
interface ConnectedSide {
    /** Its name in messages. */
    String name();

    /** Where it lives. */
    SimulatedHost host();

    /** Its queue pair. */
    QueuePairMachine machine();

    /** What the peer has to know. */
    ConnectionTerms terms();

    /** What the application tells the peer's: private data, at most 64 bytes. */
    byte[] greeting();

    /** Brings the models of both sides together; before that nothing is posted. */
    void meet(ConnectedSide peer);

    /**
     * Makes the queue pair ready to receive and to send.
     *
     * @param peer what the peer has told
     * @param greeting the peer's greeting, maybe with more bytes behind
     * @param mtuBytes path MTU
     */
    void ready(ConnectionTerms peer, byte[] greeting, int mtuBytes);

    /** From now on requests may be posted. */
    void start();

    /** Does some of what there is to do. */
    void work(long nowNanos);

    /** Whether all planned work is posted, finished and received; then the connection may end without loss. */
    boolean isDone();

    /** Whether it has done all that it meant to, and nothing of it failed. */
    boolean isComplete();

    /** Whether it wants no connection any more. */
    boolean wantsToEnd();

    /** The connection is over: the queue pair is flushed. Again: nothing. */
    void end();

    /** Whether {@link #work} has nothing left to do. */
    boolean isGone();

    /** The host has crashed: nothing comes from it any more. */
    void die();

    /** Whether it has died. */
    boolean isDead();

    /**
     * Checks all that must hold when everything is over, and gives its resources back.
     *
     * @throws SimulationFailure if something does not hold
     */
    void checkEnd();

    /** Whether the peer's first packet has come. */
    boolean hasHeard();

    /** Connects two sides without a connection manager. */
    static void connect(ConnectedSide a, ConnectedSide b, SplittableRandom random) {
        int mtuBytes = 256 << random.nextInt(5);
        a.meet(b);
        b.meet(a);
        a.ready(b.terms(), b.greeting(), mtuBytes);
        b.ready(a.terms(), a.greeting(), mtuBytes);
        a.start();
        b.start();
    }

    /** A PSN to begin with: one in two wraps around the end soon. */
    static int startingPsn(SplittableRandom random) {
        return random.nextBoolean() ? Psn.MASK - random.nextInt(40) : random.nextInt(Psn.COUNT);
    }

    /** The path from a host to a peer. */
    static QueuePairMachine.Peer path(SimulatedHost host, ConnectionTerms peer) {
        return new QueuePairMachine.Peer(
                host.addressHigh(), host.addressLow(), peer.high(), peer.low(), 0, peer.queuePairNumber(), 0, 64, 0);
    }
}

package io.rdma4j.soft.events;

import jdk.jfr.Category;
import jdk.jfr.Description;
import jdk.jfr.Event;
import jdk.jfr.Label;
import jdk.jfr.Name;
import jdk.jfr.StackTrace;
import jdk.jfr.Throttle;

/** Packets that a queue pair has retransmitted in one duty cycle, or a timeout without a retransmission. */
@Name("rdma4j.Retransmission")
@Label("Retransmission")
@Description("Packets that a queue pair sent again, and what caused it")
@Category({"rdma4j", "Transport"})
@StackTrace(false)
@Throttle("200/s")
public final class RetransmissionEvent extends Event {
    /** The local address. */
    @Label("Local Address")
    public String local = "";

    /** The peer's address. */
    @Label("Peer Address")
    public String peer = "";

    /** The number of the local queue pair. */
    @Label("Queue Pair")
    public String queuePair = "";

    /** The latest cause. */
    @Label("Cause")
    @Description("acknowledgement timeout, sequence NAK, lost response, tail-loss probe or receiver not ready")
    public String cause = "";

    /** The retransmitted packets. */
    @Label("Packets")
    @Description("Packets that were sent again")
    public long packets;

    /** Expiries of the acknowledgement timeout. */
    @Label("Timeouts")
    @Description("Expiries of the acknowledgement timeout")
    public long timeouts;

    /** Received NAKs for a missing packet. */
    @Label("Sequence NAKs")
    @Description("NAKs of the peer because a packet was missing")
    public long sequenceNaks;

    /** Responses that implied the loss of an earlier one. */
    @Label("Lost Responses")
    @Description("READ or atomic responses that were found missing")
    public long lostResponses;

    /** Tail-loss probes. */
    @Label("Tail-Loss Probes")
    @Description("Packets sent again before the timeout, since responses usually arrive sooner")
    public long tailLossProbes;

    /** Creates an event. */
    public RetransmissionEvent() {}
}

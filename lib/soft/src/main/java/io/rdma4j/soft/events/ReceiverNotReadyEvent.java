package io.rdma4j.soft.events;

import jdk.jfr.Category;
import jdk.jfr.Description;
import jdk.jfr.Event;
import jdk.jfr.Label;
import jdk.jfr.Name;
import jdk.jfr.StackTrace;
import jdk.jfr.Throttle;

/** RNR NAKs that a queue pair has received or sent in one duty cycle: no receive was posted for a message. */
@Name("rdma4j.ReceiverNotReady")
@Label("Receiver Not Ready")
@Description("RNR NAKs: a message arrived for which no receive was posted")
@Category({"rdma4j", "Transport"})
@StackTrace(false)
@Throttle("200/s")
public final class ReceiverNotReadyEvent extends Event {
    /** The local address. */
    @Label("Local Address")
    public String local = "";

    /** The peer's address. */
    @Label("Peer Address")
    public String peer = "";

    /** The number of the local queue pair. */
    @Label("Queue Pair")
    public String queuePair = "";

    /** RNR NAKs from the peer. */
    @Label("Received RNR NAKs")
    @Description("RNR NAKs from the peer, which has no receive posted")
    public long received;

    /** RNR NAKs to the peer. */
    @Label("Sent RNR NAKs")
    @Description("RNR NAKs to the peer, since this side has no receive posted")
    public long sent;

    /** Creates an event. */
    public ReceiverNotReadyEvent() {}
}

package io.rdma4j.soft.events;

import jdk.jfr.Category;
import jdk.jfr.Description;
import jdk.jfr.Event;
import jdk.jfr.Label;
import jdk.jfr.Name;
import jdk.jfr.StackTrace;

/** An error that moved a queue pair to the error state, or ended its sends. */
@Name("rdma4j.QueuePairError")
@Label("Queue Pair Error")
@Description("Error of a queue pair: a work request that failed, or an invalid request of the peer")
@Category({"rdma4j", "Transport"})
@StackTrace(false)
public final class QueuePairErrorEvent extends Event {
    /** The name of the device. */
    @Label("Device")
    public String device = "";

    /** The local address. */
    @Label("Local Address")
    public String local = "";

    /** The peer's address. */
    @Label("Peer Address")
    public String peer = "";

    /** The number of the local queue pair. */
    @Label("Queue Pair")
    public String queuePair = "";

    /** The type of the queue pair. */
    @Label("Type")
    public String type = "";

    /** The status of the completion, or the name of the asynchronous event. */
    @Label("Status")
    @Description("Status of the failed work request, or name of the asynchronous event")
    public String status = "";

    /** The explanation of the status. */
    @Label("Explanation")
    public String explanation = "";

    /** Creates an event. */
    public QueuePairErrorEvent() {}
}

package io.rdma4j.soft.events;

import jdk.jfr.Category;
import jdk.jfr.Description;
import jdk.jfr.Event;
import jdk.jfr.Label;
import jdk.jfr.Name;
import jdk.jfr.StackTrace;
import jdk.jfr.Timespan;

/** The end of an established connection. */
@Name("rdma4j.ConnectionEnd")
@Label("Connection End")
@Description("End of an established connection")
@Category({"rdma4j", "Connections"})
@StackTrace(false)
public final class ConnectionEndEvent extends Event {
    /** The local address and RDMA port. */
    @Label("Local Address")
    public String local = "";

    /** The peer's address and RDMA port. */
    @Label("Peer Address")
    public String peer = "";

    /** The name of the device. */
    @Label("Device")
    public String device = "";

    /** True for the side that connected, false for the side that listened. */
    @Label("Active")
    @Description("True at the side that connected, false at the side that listened")
    public boolean active;

    /** The number of the local queue pair. */
    @Label("Queue Pair")
    public String queuePair = "";

    /** The number of the peer's queue pair. */
    @Label("Peer Queue Pair")
    public String peerQueuePair = "";

    /** The time since the connection was established, in nanoseconds. */
    @Label("Lifetime")
    @Description("Time since the connection was established")
    @Timespan(Timespan.NANOSECONDS)
    public long lifetime;

    /** The reason for the end. */
    @Label("Reason")
    @Description("Side that ended the connection, and how")
    public String reason = "";

    /** Creates an event. */
    public ConnectionEndEvent() {}
}

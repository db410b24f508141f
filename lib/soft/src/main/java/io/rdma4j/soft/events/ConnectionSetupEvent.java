package io.rdma4j.soft.events;

import jdk.jfr.Category;
import jdk.jfr.Description;
import jdk.jfr.Event;
import jdk.jfr.Label;
import jdk.jfr.Name;
import jdk.jfr.StackTrace;

/** The setup of a connection, from the connection request to its success or failure. */
@Name("rdma4j.ConnectionSetup")
@Label("Connection Setup")
@Description("Setup of a connection: from the connection request to the established connection or the failure")
@Category({"rdma4j", "Connections"})
@StackTrace(false)
public final class ConnectionSetupEvent extends Event {
    /** The value of {@link #result} if the connection is established. */
    public static final String ESTABLISHED = "established";

    /** The local address and RDMA port. */
    @Label("Local Address")
    public String local = "";

    /** The peer's address and RDMA port. */
    @Label("Peer Address")
    public String peer = "";

    /** The name of the device. */
    @Label("Device")
    public String device = "";

    /** True for the side that connects, false for the side that listens. */
    @Label("Active")
    @Description("True at the side that connects, false at the side that listens")
    public boolean active;

    /** The number of the local queue pair. */
    @Label("Queue Pair")
    public String queuePair = "";

    /** The number of the peer's queue pair. */
    @Label("Peer Queue Pair")
    public String peerQueuePair = "";

    /** {@link #ESTABLISHED}, or the reason for the failure. */
    @Label("Result")
    @Description("established, or the reason why there is no connection")
    public String result = "";

    /** Creates an event. */
    public ConnectionSetupEvent() {}
}

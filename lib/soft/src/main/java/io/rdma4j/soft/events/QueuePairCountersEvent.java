package io.rdma4j.soft.events;

import jdk.jfr.Category;
import jdk.jfr.DataAmount;
import jdk.jfr.Description;
import jdk.jfr.Event;
import jdk.jfr.Label;
import jdk.jfr.Name;
import jdk.jfr.Period;
import jdk.jfr.StackTrace;

/** The counters of an open queue pair since its creation, written periodically. */
@Name("rdma4j.QueuePairCounters")
@Label("Queue Pair Counters")
@Description("Counters of an open queue pair since its creation")
@Category({"rdma4j", "Counters"})
@StackTrace(false)
@Period("5 s")
public final class QueuePairCountersEvent extends Event {
    /** The name of the device. */
    @Label("Device")
    public String device = "";

    /** The number of the queue pair. */
    @Label("Queue Pair")
    public String queuePair = "";

    /** The type of the queue pair. */
    @Label("Type")
    public String type = "";

    /** The state of the queue pair. */
    @Label("State")
    public String state = "";

    /** The local address. */
    @Label("Local Address")
    public String local = "";

    /** The peer's address. */
    @Label("Peer Address")
    public String peer = "";

    /** The bytes that the queue pair has sent. */
    @Label("Sent Bytes")
    @Description("Bytes that the queue pair sent, with RoCEv2 headers, including retransmissions")
    @DataAmount
    public long sentBytes;

    /** The bytes that the queue pair has received. */
    @Label("Received Bytes")
    @Description("Bytes that the queue pair received, with RoCEv2 headers")
    @DataAmount
    public long receivedBytes;

    /** The sent packets. */
    @Label("Sent Packets")
    public long sentPackets;

    /** The received packets. */
    @Label("Received Packets")
    public long receivedPackets;

    /** The dropped packets. */
    @Label("Dropped Packets")
    @Description("Received packets that the queue pair dropped, for any reason")
    public long droppedPackets;

    /** The retransmitted packets. */
    @Label("Retransmitted Packets")
    public long retransmittedPackets;

    /** The expiries of acknowledgement timeouts. */
    @Label("Timeouts")
    @Description("Expiries of the acknowledgement timeout")
    public long timeouts;

    /** The received RNR NAKs. */
    @Label("Received RNR NAKs")
    public long receivedRnrNaks;

    /** The sent RNR NAKs. */
    @Label("Sent RNR NAKs")
    public long sentRnrNaks;

    /** The sends that were completed successfully. */
    @Label("Completed Sends")
    public long completedSends;

    /** The receives that were completed successfully. */
    @Label("Completed Receives")
    public long completedReceives;

    /** Creates an event. */
    public QueuePairCountersEvent() {}
}

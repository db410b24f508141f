package io.rdma4j.soft.events;

import jdk.jfr.Category;
import jdk.jfr.DataAmount;
import jdk.jfr.Description;
import jdk.jfr.Event;
import jdk.jfr.Label;
import jdk.jfr.Name;
import jdk.jfr.Period;
import jdk.jfr.StackTrace;

/** The counters of an open device since its first use, written periodically. */
@Name("rdma4j.DeviceCounters")
@Label("Device Counters")
@Description("Sums over the queue pairs of a device in this process, open and closed, since its first use")
@Category({"rdma4j", "Counters"})
@StackTrace(false)
@Period("5 s")
public final class DeviceCountersEvent extends Event {
    /** The name of the device. */
    @Label("Device")
    public String device = "";

    /** The open queue pairs. */
    @Label("Queue Pairs")
    @Description("Open queue pairs")
    public int queuePairs;

    /** The bytes that open queue pairs have sent. */
    @Label("Sent Bytes")
    @Description("Bytes that the open queue pairs sent, with RoCEv2 headers, including retransmissions")
    @DataAmount
    public long sentBytes;

    /** The bytes that open queue pairs have received. */
    @Label("Received Bytes")
    @Description("Bytes that the open queue pairs received, with RoCEv2 headers")
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
    @Description("Received packets that the queue pairs dropped, for any reason")
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
    public DeviceCountersEvent() {}
}

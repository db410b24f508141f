package io.rdma4j.transport.cm;

import java.lang.foreign.MemorySegment;

/** One outgoing MAD and where it goes: a reusable holder, filled by {@link CmAgent#pollTransmit}. */
public final class CmDatagram {
    /** The MAD's 256 bytes, at offset 0, read only; the agent does not change them any more. */
    public MemorySegment mad = MemorySegment.NULL;

    /** Address to send from, upper half, GID form. */
    public long localHigh;

    /** Address to send from, lower half. */
    public long localLow;

    /** Address to send to, upper half. */
    public long remoteHigh;

    /** Address to send to, lower half. */
    public long remoteLow;

    /** IPv6 scope identifier of the destination, else 0. */
    public int scope;

    /** IPv4 type of service or IPv6 traffic class. */
    public int trafficClass;

    /** Flow label that the UDP source port derives from; 0 for none. */
    public int flowLabel;

    /** Creates an empty holder. */
    public CmDatagram() {}
}

package io.rdma4j.transport.cm;

import java.lang.foreign.MemorySegment;

/** An outgoing MAD with its addresses, in a reusable holder filled by {@link CmAgent#pollTransmit}. */
public final class CmDatagram {
    /** The MAD's 256 bytes, at offset 0; read only and no longer changed by the agent. */
    public MemorySegment mad = MemorySegment.NULL;

    /** Upper half of the source address in GID form. */
    public long localHigh;

    /** Lower half of the source address. */
    public long localLow;

    /** Upper half of the destination address. */
    public long remoteHigh;

    /** Lower half of the destination address. */
    public long remoteLow;

    /** IPv6 scope identifier of the destination, otherwise 0. */
    public int scope;

    /** IPv4 type of service or IPv6 traffic class. */
    public int trafficClass;

    /** Flow label from which the UDP source port is derived; 0 for none. */
    public int flowLabel;

    /** Creates an empty holder. */
    public CmDatagram() {}
}

package io.rdma4j.wire.cm;

import io.rdma4j.value.Gid;
import io.rdma4j.wire.Wire;
import java.lang.foreign.MemorySegment;

/**
 * A path between two ports as carried in REQ and LAP, 44 bytes. "Local" is the side that sends the message. RoCE uses
 * the GIDs, flow label, traffic class and hop limit; the LIDs are 0xffff. Source: InfiniBand Architecture volume 1,
 * 12.7.
 *
 * @param localLid LID of the sender's port
 * @param remoteLid LID of the receiver's port
 * @param localGid GID of the sender's port, the destination of replies
 * @param remoteGid GID of the receiver's port
 * @param flowLabel flow label, 20 bits
 * @param packetRate rate code, 6 bits; 0 is the rate of the port
 * @param trafficClass traffic class, the IP type of service
 * @param hopLimit hop limit
 * @param serviceLevel service level, 4 bits
 * @param subnetLocal true if the path stays in one subnet
 * @param acknowledgeTimeout local acknowledgement timeout, exponent of 5 bits, see
 *     {@link io.rdma4j.wire.Timers#acknowledgeTimeoutNanos}
 */
public record CmPath(
        int localLid,
        int remoteLid,
        Gid localGid,
        Gid remoteGid,
        int flowLabel,
        int packetRate,
        int trafficClass,
        int hopLimit,
        int serviceLevel,
        boolean subnetLocal,
        int acknowledgeTimeout) {
    /** Length of a path in bytes. */
    public static final int LENGTH = 44;

    /** No path: the alternate path of a REQ without one. */
    public static final CmPath NONE = new CmPath(0, 0, Gid.ZERO, Gid.ZERO, 0, 0, 0, 0, 0, false, 0);

    /** LID that Linux uses on links without LIDs. */
    public static final int PERMISSIVE_LID = 0xffff;

    private static final int LOCAL_LID = 0;
    private static final int REMOTE_LID = 2;
    private static final int LOCAL_GID = 4;
    private static final int REMOTE_GID = 20;
    private static final int FLOW_LABEL = 36;
    private static final int SERVICE_LEVEL = 42;
    private static final int ACKNOWLEDGE_TIMEOUT = 43;

    /** Offsets of the rate, traffic class and hop limit of a path, which differ between the two messages. */
    private enum Layout {
        REQ(39, 40, 41),
        LAP(41, 39, 40);

        final int packetRate;
        final int trafficClass;
        final int hopLimit;

        Layout(int packetRate, int trafficClass, int hopLimit) {
            this.packetRate = packetRate;
            this.trafficClass = trafficClass;
            this.hopLimit = hopLimit;
        }
    }

    /**
     * Creates a path between two RoCE ports as Linux's rdma_cm describes it: permissive LIDs, the rate of the port,
     * service level 0.
     *
     * @param acknowledgeTimeout exponent of 5 bits
     */
    public static CmPath roce(
            Gid localGid, Gid remoteGid, int flowLabel, int trafficClass, int hopLimit, int acknowledgeTimeout) {
        return new CmPath(
                PERMISSIVE_LID,
                PERMISSIVE_LID,
                localGid,
                remoteGid,
                flowLabel,
                0,
                trafficClass,
                hopLimit,
                0,
                hopLimit <= 1,
                acknowledgeTimeout);
    }

    static CmPath parseReq(MemorySegment s, long at) {
        return parse(s, at, Layout.REQ);
    }

    static CmPath parseLap(MemorySegment s, long at) {
        return parse(s, at, Layout.LAP);
    }

    void emitReq(MemorySegment s, long at) {
        emit(s, at, Layout.REQ);
    }

    void emitLap(MemorySegment s, long at) {
        emit(s, at, Layout.LAP);
    }

    private static CmPath parse(MemorySegment s, long at, Layout layout) {
        int level = Wire.u8(s, at + SERVICE_LEVEL);
        return new CmPath(
                Wire.u16(s, at + LOCAL_LID),
                Wire.u16(s, at + REMOTE_LID),
                Wire.gid(s, at + LOCAL_GID),
                Wire.gid(s, at + REMOTE_GID),
                Wire.u24(s, at + FLOW_LABEL) >>> 4,
                Wire.u8(s, at + layout.packetRate) & 0x3f,
                Wire.u8(s, at + layout.trafficClass),
                Wire.u8(s, at + layout.hopLimit),
                level >>> 4,
                (level & 8) != 0,
                Wire.u8(s, at + ACKNOWLEDGE_TIMEOUT) >>> 3);
    }

    /**
     * Writes all bytes of the path. Bit 2 of the last byte, which in a REQ is not part of the path, is written as zero.
     */
    private void emit(MemorySegment s, long at, Layout layout) {
        Wire.u16(s, at + LOCAL_LID, localLid);
        Wire.u16(s, at + REMOTE_LID, remoteLid);
        Wire.gid(s, at + LOCAL_GID, localGid);
        Wire.gid(s, at + REMOTE_GID, remoteGid);
        Wire.u24(s, at + FLOW_LABEL, flowLabel << 4);
        Wire.u8(s, at + layout.packetRate, packetRate & 0x3f);
        Wire.u8(s, at + layout.trafficClass, trafficClass);
        Wire.u8(s, at + layout.hopLimit, hopLimit);
        Wire.u8(s, at + SERVICE_LEVEL, serviceLevel << 4 | (subnetLocal ? 8 : 0));
        Wire.u8(s, at + ACKNOWLEDGE_TIMEOUT, acknowledgeTimeout << 3);
    }
}

package io.rdma4j.cm.abi;

import io.rdma4j.cm.RoutePath;
import io.rdma4j.cm.abi.CmStructures.PathData;
import io.rdma4j.cm.abi.CmStructures.PathRecordFields;
import io.rdma4j.cm.abi.CmStructures.UserPath;
import io.rdma4j.value.Gid;
import io.rdma4j.value.PathMtu;
import io.rdma4j.verbs.abi.Fields;
import java.lang.foreign.MemorySegment;

/**
 * Reads and writes paths in the kernel's format. A word with flags precedes a path record of InfiniBand subnet
 * administration (IBA volume 1, 15.2.5.16), packed and in network byte order.
 */
public final class PathRecord {
    private static final int REVERSIBLE_ONE_PATH = 0x81;
    private static final int DEFAULT_PARTITION = 0xffff;

    /** The selector in the two highest bits of a byte: exactly this value. */
    private static final int EXACTLY = 2 << 6;

    private static final int SELECTOR_SHIFT = 6;

    /** The mask of the value in the other bits of such a byte. */
    private static final int VALUE = 0x3f;

    private static final int FLOW_LABEL = 0xf_ffff;
    private static final int MAX_LIFETIME = 30;

    /** The shift of a traffic class to the service level, as the kernel derives it for RoCE. */
    private static final int SERVICE_LEVEL_SHIFT = 5;

    private PathRecord() {}

    /** Writes a path with its flags into zeroed memory of {@link PathData#BYTES} bytes. */
    public static void write(MemorySegment to, RoutePath path, Gid source, Gid destination) {
        Fields.putInt(to, PathData.FLAGS, CmNumbers.PATH_FLAGS);
        MemorySegment packed = to.asSlice(PathData.RECORD);
        Fields.putGid(packed, PathRecordFields.DESTINATION_GID, destination);
        Fields.putGid(packed, PathRecordFields.SOURCE_GID, source);
        Fields.putBigEndianInt(
                packed, PathRecordFields.FLOW_LABEL_AND_HOP_LIMIT, path.flowLabel() << 8 | path.hopLimit());
        Fields.putByte(packed, PathRecordFields.TRAFFIC_CLASS, path.trafficClass());
        Fields.putByte(packed, PathRecordFields.REVERSIBLE_AND_PATHS, REVERSIBLE_ONE_PATH);
        Fields.putBigEndianShort(packed, PathRecordFields.PARTITION_KEY, DEFAULT_PARTITION);
        Fields.putBigEndianShort(packed, PathRecordFields.SERVICE_LEVEL, path.trafficClass() >> SERVICE_LEVEL_SHIFT);
        Fields.putByte(packed, PathRecordFields.MTU, EXACTLY | path.pathMtu().code());
        Fields.putByte(packed, PathRecordFields.RATE, EXACTLY); // the port's own
        Fields.putByte(packed, PathRecordFields.PACKET_LIFETIME, EXACTLY | path.packetLifetime());
    }

    /**
     * Reads a path of {@link PathData#BYTES} bytes.
     *
     * @throws io.rdma4j.verbs.RdmaException {@code EINVAL} if a value is out of range
     */
    public static RoutePath read(MemorySegment from) {
        MemorySegment packed = from.asSlice(PathData.RECORD);
        int flowLabelAndHopLimit = Fields.bigEndianIntAt(packed, PathRecordFields.FLOW_LABEL_AND_HOP_LIMIT);
        return new RoutePath(
                PathMtu.ofCode(Fields.byteAt(packed, PathRecordFields.MTU) & VALUE),
                Fields.byteAt(packed, PathRecordFields.TRAFFIC_CLASS),
                flowLabelAndHopLimit >>> 8 & FLOW_LABEL,
                Math.max(1, flowLabelAndHopLimit & 0xff),
                Math.min(MAX_LIFETIME, Fields.byteAt(packed, PathRecordFields.PACKET_LIFETIME) & VALUE));
    }

    /** Writes a path into zeroed memory of {@link UserPath#BYTES} bytes, in the format of a response about a route. */
    public static void writeUnpacked(MemorySegment to, RoutePath path, Gid source, Gid destination) {
        Fields.putGid(to, UserPath.DESTINATION_GID, destination);
        Fields.putGid(to, UserPath.SOURCE_GID, source);
        Fields.putBigEndianInt(to, UserPath.FLOW_LABEL, path.flowLabel());
        Fields.putInt(to, UserPath.REVERSIBLE, 1);
        Fields.putInt(to, UserPath.MTU, path.pathMtu().code());
        Fields.putBigEndianShort(to, UserPath.PARTITION_KEY, DEFAULT_PARTITION);
        Fields.putByte(to, UserPath.HOP_LIMIT, path.hopLimit());
        Fields.putByte(to, UserPath.TRAFFIC_CLASS, path.trafficClass());
        Fields.putByte(to, UserPath.PATH_COUNT, 1);
        Fields.putByte(to, UserPath.SERVICE_LEVEL, path.trafficClass() >> SERVICE_LEVEL_SHIFT);
        Fields.putByte(to, UserPath.MTU_SELECTOR, EXACTLY >> SELECTOR_SHIFT);
        Fields.putByte(to, UserPath.RATE_SELECTOR, EXACTLY >> SELECTOR_SHIFT);
        Fields.putByte(to, UserPath.PACKET_LIFETIME_SELECTOR, EXACTLY >> SELECTOR_SHIFT);
        Fields.putByte(to, UserPath.PACKET_LIFETIME, path.packetLifetime());
    }
}

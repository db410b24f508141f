package io.rdma4j.cm.abi;

import io.rdma4j.cm.RoutePath;
import io.rdma4j.cm.abi.CmStructures.PathData;
import io.rdma4j.verbs.Gid;
import java.lang.foreign.MemorySegment;

/**
 * Writes a path as the kernel takes it. After a word with flags comes a path record of InfiniBand's subnet administration
 * (IBA volume 1, 15.2.5.16), packed and in network order.
 */
public final class PathRecord {
    private static final int DESTINATION_GID = 8;
    private static final int SOURCE_GID = 24;
    private static final int FLOW_LABEL_AND_HOP_LIMIT = 44;
    private static final int TRAFFIC_CLASS = 48;
    private static final int REVERSIBLE_AND_PATHS = 49;
    private static final int PARTITION_KEY = 50;
    private static final int SERVICE_LEVEL = 52;
    private static final int MTU = 54;
    private static final int RATE = 55;
    private static final int PACKET_LIFETIME = 56;

    private static final int REVERSIBLE_ONE_PATH = 0x81;
    private static final int DEFAULT_PARTITION = 0xffff;

    /** The selector in the two highest bits of an octet: exactly this value. */
    private static final int EXACTLY = 2 << 6;

    /** The bits of a traffic class that choose the service level, as the kernel does for RoCE. */
    private static final int SERVICE_LEVEL_SHIFT = 5;

    private PathRecord() {}

    /** Writes a path with its flags into zeroed memory of {@link PathData#BYTES} bytes. */
    public static void write(MemorySegment to, RoutePath path, Gid source, Gid destination) {
        Fields.putInt(to, PathData.FLAGS, CmNumbers.PATH_FLAGS);
        MemorySegment packed = to.asSlice(PathData.RECORD);
        Fields.putGid(packed, DESTINATION_GID, destination);
        Fields.putGid(packed, SOURCE_GID, source);
        Fields.putBigEndianInt(packed, FLOW_LABEL_AND_HOP_LIMIT, path.flowLabel() << 8 | path.hopLimit());
        Fields.putByte(packed, TRAFFIC_CLASS, path.trafficClass());
        Fields.putByte(packed, REVERSIBLE_AND_PATHS, REVERSIBLE_ONE_PATH);
        Fields.putBigEndianShort(packed, PARTITION_KEY, DEFAULT_PARTITION);
        Fields.putBigEndianShort(packed, SERVICE_LEVEL, path.trafficClass() >> SERVICE_LEVEL_SHIFT);
        Fields.putByte(packed, MTU, EXACTLY | path.pathMtu().code());
        Fields.putByte(packed, RATE, EXACTLY); // the port's own
        Fields.putByte(packed, PACKET_LIFETIME, EXACTLY | path.packetLifetime());
    }
}

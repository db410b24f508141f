package io.rdma4j.verbs.abi;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static java.lang.foreign.ValueLayout.JAVA_INT_UNALIGNED;

import io.rdma4j.value.Gid;
import io.rdma4j.verbs.AddressVector;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;

/** Reads and writes GIDs and address vectors in C structures. */
public final class AddressVectors {
    private static final ValueLayout.OfLong NETWORK_ORDER =
            ValueLayout.JAVA_LONG_UNALIGNED.withOrder(ByteOrder.BIG_ENDIAN);

    private static final int BYTE = 0xff;

    private AddressVectors() {}

    /** Writes a GID. C: {@code union ibv_gid}. */
    public static void write(MemorySegment target, long at, Gid gid) {
        target.set(NETWORK_ORDER, at, gid.high());
        target.set(NETWORK_ORDER, at + 8, gid.low());
    }

    /** Reads a GID. C: {@code union ibv_gid}. */
    public static Gid readGid(MemorySegment source, long at) {
        return new Gid(source.get(NETWORK_ORDER, at), source.get(NETWORK_ORDER, at + 8));
    }

    /** Writes an address vector into zeroed memory. C: {@code struct ibv_ah_attr}. */
    public static void write(MemorySegment target, long at, AddressVector vector) {
        write(target, at + AddressVectorFields.DESTINATION_GID, vector.destination());
        target.set(JAVA_INT_UNALIGNED, at + AddressVectorFields.FLOW_LABEL, vector.flowLabel());
        target.set(JAVA_BYTE, at + AddressVectorFields.SOURCE_GID_INDEX, (byte) vector.sourceGidIndex());
        target.set(JAVA_BYTE, at + AddressVectorFields.HOP_LIMIT, (byte) vector.hopLimit());
        target.set(JAVA_BYTE, at + AddressVectorFields.TRAFFIC_CLASS, (byte) vector.trafficClass());
        target.set(JAVA_BYTE, at + AddressVectorFields.SERVICE_LEVEL, (byte) vector.serviceLevel());
        target.set(JAVA_BYTE, at + AddressVectorFields.STATIC_RATE, (byte) vector.staticRate());
        target.set(JAVA_BYTE, at + AddressVectorFields.IS_GLOBAL, (byte) 1);
        target.set(JAVA_BYTE, at + AddressVectorFields.PORT, (byte) vector.port());
    }

    /** Reads an address vector; a link-local destination gets no interface. C: {@code struct ibv_ah_attr}. */
    public static AddressVector read(MemorySegment source, long at) {
        return new AddressVector(
                source.get(JAVA_BYTE, at + AddressVectorFields.SOURCE_GID_INDEX) & BYTE,
                readGid(source, at + AddressVectorFields.DESTINATION_GID),
                0,
                source.get(JAVA_INT_UNALIGNED, at + AddressVectorFields.FLOW_LABEL),
                source.get(JAVA_BYTE, at + AddressVectorFields.HOP_LIMIT) & BYTE,
                source.get(JAVA_BYTE, at + AddressVectorFields.TRAFFIC_CLASS) & BYTE,
                source.get(JAVA_BYTE, at + AddressVectorFields.SERVICE_LEVEL) & BYTE,
                source.get(JAVA_BYTE, at + AddressVectorFields.STATIC_RATE) & BYTE,
                source.get(JAVA_BYTE, at + AddressVectorFields.PORT) & BYTE);
    }
}

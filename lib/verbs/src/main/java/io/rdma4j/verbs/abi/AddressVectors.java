package io.rdma4j.verbs.abi;

import io.rdma4j.verbs.AddressVector;
import io.rdma4j.verbs.abi.VerbsStructures.AddressVectorFields;
import java.lang.foreign.MemorySegment;

/** Reads and writes address vectors in the structure of libibverbs, which is also the kernel's. */
public final class AddressVectors {
    private AddressVectors() {}

    /** Writes an address vector into zeroed memory. */
    public static void write(MemorySegment to, long at, AddressVector vector) {
        Fields.putGid(to, at + AddressVectorFields.DESTINATION_GID, vector.destination());
        Fields.putInt(to, at + AddressVectorFields.FLOW_LABEL, vector.flowLabel());
        Fields.putByte(to, at + AddressVectorFields.SOURCE_GID_INDEX, vector.sourceGidIndex());
        Fields.putByte(to, at + AddressVectorFields.HOP_LIMIT, vector.hopLimit());
        Fields.putByte(to, at + AddressVectorFields.TRAFFIC_CLASS, vector.trafficClass());
        Fields.putByte(to, at + AddressVectorFields.SERVICE_LEVEL, vector.serviceLevel());
        Fields.putByte(to, at + AddressVectorFields.STATIC_RATE, vector.staticRate());
        Fields.putByte(to, at + AddressVectorFields.IS_GLOBAL, 1);
        Fields.putByte(to, at + AddressVectorFields.PORT, vector.port());
    }

    /** Reads an address vector. A link-local destination has no interface, since the source GID determines it. */
    public static AddressVector read(MemorySegment from, long at) {
        return new AddressVector(
                Fields.byteAt(from, at + AddressVectorFields.SOURCE_GID_INDEX),
                Fields.gidAt(from, at + AddressVectorFields.DESTINATION_GID),
                0,
                Fields.intAt(from, at + AddressVectorFields.FLOW_LABEL),
                Fields.byteAt(from, at + AddressVectorFields.HOP_LIMIT),
                Fields.byteAt(from, at + AddressVectorFields.TRAFFIC_CLASS),
                Fields.byteAt(from, at + AddressVectorFields.SERVICE_LEVEL),
                Fields.byteAt(from, at + AddressVectorFields.STATIC_RATE),
                Fields.byteAt(from, at + AddressVectorFields.PORT));
    }
}

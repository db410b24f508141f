package io.rdma4j.wire.cm;

import org.jspecify.annotations.Nullable;

/** The CM messages, by the attribute ID of their MAD. Source: InfiniBand Architecture volume 1, 12.6. */
public enum CmAttribute {
    /** Request for communication: the active side begins. */
    REQ(0x10, Req.PRIVATE_DATA_LENGTH),
    /** Message receipt acknowledgement: the answer will take longer. */
    MRA(0x11, Mra.PRIVATE_DATA_LENGTH),
    /** Reject. */
    REJ(0x12, Rej.PRIVATE_DATA_LENGTH),
    /** Reply to a request: the passive side accepts. */
    REP(0x13, Rep.PRIVATE_DATA_LENGTH),
    /** Ready to use: the active side has the reply. */
    RTU(0x14, Rtu.PRIVATE_DATA_LENGTH),
    /** Disconnect request. */
    DREQ(0x15, Dreq.PRIVATE_DATA_LENGTH),
    /** Reply to a disconnect request. */
    DREP(0x16, Drep.PRIVATE_DATA_LENGTH),
    /** Service ID resolution request: which datagram queue pair serves this ID? */
    SIDR_REQ(0x17, SidrReq.PRIVATE_DATA_LENGTH),
    /** Service ID resolution reply. */
    SIDR_REP(0x18, SidrRep.PRIVATE_DATA_LENGTH),
    /** Load alternate path. */
    LAP(0x19, Lap.PRIVATE_DATA_LENGTH),
    /** Alternate path response. */
    APR(0x1a, Apr.PRIVATE_DATA_LENGTH);

    private static final CmAttribute[] IN_ORDER = values();

    private final int id;
    private final int privateDataLength;

    CmAttribute(int id, int privateDataLength) {
        this.id = id;
        this.privateDataLength = privateDataLength;
    }

    /** The message of an attribute ID, or null where the ID is not one of a CM message. */
    public static @Nullable CmAttribute of(int id) {
        int index = id - REQ.id;
        return index >= 0 && index < IN_ORDER.length ? IN_ORDER[index] : null;
    }

    /** The attribute ID. */
    public int id() {
        return id;
    }

    /** Bytes of private data that the message carries, always all of them. */
    public int privateDataLength() {
        return privateDataLength;
    }
}

package io.rdma4j.wire.cm;

import org.jspecify.annotations.Nullable;

/** The CM messages and the attribute IDs of their MADs. Source: InfiniBand Architecture volume 1, 12.6. */
public enum CmAttribute {
    /** Request for communication, sent by the active side. */
    REQ(0x10, Req.PRIVATE_DATA_LENGTH),
    /** Message receipt acknowledgement: the response is delayed. */
    MRA(0x11, Mra.PRIVATE_DATA_LENGTH),
    /** Reject. */
    REJ(0x12, Rej.PRIVATE_DATA_LENGTH),
    /** Reply to a request: the passive side accepts the connection. */
    REP(0x13, Rep.PRIVATE_DATA_LENGTH),
    /** Ready to use: the active side has received the reply. */
    RTU(0x14, Rtu.PRIVATE_DATA_LENGTH),
    /** Disconnect request. */
    DREQ(0x15, Dreq.PRIVATE_DATA_LENGTH),
    /** Reply to a disconnect request. */
    DREP(0x16, Drep.PRIVATE_DATA_LENGTH),
    /** Service ID resolution request: requests the datagram queue pair of a service. */
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

    /** Returns the message with this attribute ID, or null if no CM message has the ID. */
    public static @Nullable CmAttribute of(int id) {
        int index = id - REQ.id;
        return index >= 0 && index < IN_ORDER.length ? IN_ORDER[index] : null;
    }

    /** Returns the attribute ID. */
    public int id() {
        return id;
    }

    /** Returns the fixed length of the private data in bytes. */
    public int privateDataLength() {
        return privateDataLength;
    }
}

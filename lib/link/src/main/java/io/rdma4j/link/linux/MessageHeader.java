package io.rdma4j.link.linux;

import java.nio.ByteOrder;

/** The field offsets and sizes, in bytes, of Linux's message structures. They are the same on x86-64 and AArch64. */
final class MessageHeader {
    /** Size of {@code struct mmsghdr}: a {@code struct msghdr} and the length of the received message. */
    static final int BYTES = 64;

    static final int NAME = 0;
    static final int NAME_LENGTH = 8;
    static final int VECTORS = 16;
    static final int VECTOR_COUNT = 24;
    static final int CONTROL = 32;
    static final int CONTROL_LENGTH = 40;
    static final int FLAGS = 48;
    static final int LENGTH = 56;

    /** Size of {@code struct iovec}: an address and a length. */
    static final int VECTOR_BYTES = 16;

    static final int VECTOR_LENGTH = 8;

    /** Size of {@code struct cmsghdr}: length, level and type, followed by the data. */
    static final int CONTROL_HEADER_BYTES = 16;

    static final int CONTROL_KIND = 8;

    /** Size of a control message with up to eight bytes of data. */
    static final int CONTROL_MESSAGE_BYTES = CONTROL_HEADER_BYTES + 8;

    private MessageHeader() {}

    /** Returns the level and the type of a control message as the number at {@link #CONTROL_KIND}. */
    static long controlKind(int level, int type) {
        return ByteOrder.nativeOrder() == ByteOrder.LITTLE_ENDIAN
                ? (long) type << 32 | level
                : (long) level << 32 | type;
    }
}

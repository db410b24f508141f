package io.rdma4j.link.linux;

/** Where the fields of Linux' structures for messages are, in bytes; on x86-64 and AArch64 alike. */
final class MessageHeader {
    /** {@code struct mmsghdr}: a {@code struct msghdr} and the length of what came. */
    static final int BYTES = 64;

    static final int NAME = 0;
    static final int NAME_LENGTH = 8;
    static final int VECTORS = 16;
    static final int VECTOR_COUNT = 24;
    static final int CONTROL = 32;
    static final int CONTROL_LENGTH = 40;
    static final int FLAGS = 48;
    static final int LENGTH = 56;

    /** {@code struct iovec}: an address and a length. */
    static final int VECTOR_BYTES = 16;

    static final int VECTOR_LENGTH = 8;

    /** {@code struct cmsghdr}: its length, level and type; then its data. */
    static final int CONTROL_HEADER_BYTES = 16;

    static final int CONTROL_LEVEL = 8;
    static final int CONTROL_TYPE = 12;

    /** A control message with up to eight bytes of data. */
    static final int CONTROL_MESSAGE_BYTES = CONTROL_HEADER_BYTES + 8;

    private MessageHeader() {}
}

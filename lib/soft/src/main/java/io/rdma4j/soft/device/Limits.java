package io.rdma4j.soft.device;

/** The limits of the software device. */
final class Limits {
    static final long MAX_MEMORY_REGION_BYTES = 1L << 46;
    static final int MAX_WORK_REQUESTS = 1 << 15;
    static final int MAX_SCATTER_GATHER = 32;
    static final int MAX_COMPLETION_QUEUES = 1 << 16;
    static final int MAX_COMPLETION_QUEUE_ENTRIES = 1 << 22;
    static final int MAX_MEMORY_REGIONS = 1 << 20;
    static final int MAX_MEMORY_WINDOWS = 1 << 16;
    static final int MAX_PROTECTION_DOMAINS = 1 << 16;
    static final int MAX_XRC_DOMAINS = 1 << 16;
    static final int MAX_SHARED_RECEIVE_QUEUES = 1 << 15;
    static final int MAX_INLINE_BYTES = 1024;

    /** The maximum number of queue pairs of this process that are attached to one multicast group. */
    static final int MAX_MULTICAST_QUEUE_PAIRS = 1 << 12;

    /** The length of the partition key table, which contains only the default partition. */
    static final int PARTITION_KEYS = 1;

    /** Address handles are limited by memory only. */
    static final int MAX_ADDRESS_HANDLES = Integer.MAX_VALUE;

    /** Memory of any length and address can be registered: pages from 4 KiB to 2 GiB, the same as for rdma_rxe. */
    static final long PAGE_SIZES = 0xffff_f000L;

    /** The maximum number of outstanding READs and atomics, in each direction. */
    static final int MAX_READ_ATOMIC = 128;

    /** 4.096 µs × 2^15: the time for which a busy process may delay an acknowledgement. */
    static final int LOCAL_ACK_DELAY = 15;

    private Limits() {}
}

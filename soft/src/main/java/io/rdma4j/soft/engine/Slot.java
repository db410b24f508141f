package io.rdma4j.soft.engine;

/**
 * What the number of a process among those that share this host's addresses is part of: the upper 8 bits of its queue pair
 * numbers and of its communication IDs. So whoever gets a packet knows from it alone which process it is for. The numbers
 * themselves are given out by {@link io.rdma4j.soft.share.Slots}.
 */
public final class Slot {
    private static final int QUEUE_PAIR_NUMBER_SHIFT = 16;
    private static final int COMMUNICATION_ID_SHIFT = 24;

    private Slot() {}

    /** The slot of the process that has a queue pair number of 24 bits. */
    static int ofQueuePairNumber(int number) {
        return number >>> QUEUE_PAIR_NUMBER_SHIFT;
    }

    /** A slot's queue pair number with the lower 16 bits given. */
    static int queuePairNumber(int slot, int low) {
        return slot << QUEUE_PAIR_NUMBER_SHIFT | low;
    }

    /** The slot of the process that has chosen a communication ID. */
    public static int ofCommunicationId(int id) {
        return id >>> COMMUNICATION_ID_SHIFT;
    }

    /** A slot's communication ID with the lower 24 bits of any number. */
    public static int communicationId(int slot, int any) {
        return slot << COMMUNICATION_ID_SHIFT | any & (1 << COMMUNICATION_ID_SHIFT) - 1;
    }
}

package io.rdma4j.sharing;

/**
 * The position of a process' slot in its queue pair numbers and communication IDs: their upper 8 bits.
 *
 * <p>A packet alone therefore determines its destination process. {@link Slots} assigns the slots.
 */
public final class Slot {
    private static final int QUEUE_PAIR_NUMBER_SHIFT = 16;
    private static final int COMMUNICATION_ID_SHIFT = 24;

    /** The bit of a queue pair number that is set if an engine other than the main one drives the queue pair, in all processes. */
    private static final int OTHER_ENGINES = 1 << QUEUE_PAIR_NUMBER_SHIFT - 1;

    private Slot() {}

    /** Returns the slot of the process that has a 24-bit queue pair number. */
    public static int ofQueuePairNumber(int number) {
        return number >>> QUEUE_PAIR_NUMBER_SHIFT;
    }

    /** Returns whether the main engine of its process, not another one, drives the queue pair with a number. */
    public static boolean isOfMainEngine(int number) {
        return (number & OTHER_ENGINES) == 0;
    }

    /** Returns a slot's queue pair number with the given lower 16 bits. */
    public static int queuePairNumber(int slot, int low) {
        return slot << QUEUE_PAIR_NUMBER_SHIFT | low;
    }

    /** Returns the slot of the process that has chosen a communication ID. */
    public static int ofCommunicationId(int id) {
        return id >>> COMMUNICATION_ID_SHIFT;
    }

    /** Returns a slot's communication ID with the lower 24 bits of any number. */
    public static int communicationId(int slot, int any) {
        return slot << COMMUNICATION_ID_SHIFT | any & (1 << COMMUNICATION_ID_SHIFT) - 1;
    }
}

package io.rdma4j.soft.engine;

/**
 * How the 24 bits of a queue pair number are used: the process' slot in the upper 8, and in the lower 16 a random number
 * of the range that belongs to the engine which drives the queue pair. So whoever gets a frame knows from its destination
 * alone which process and which engine it is for, and so can a filter in the kernel.
 *
 * <p>The first engine has half of the numbers, since it drives whatever does not ask for another; the others share the rest.
 *
 * @param slot of the process
 * @param engines how many engines the process may have
 */
record QueuePairNumbers(int slot, int engines) {
    /** Numbers of a process. */
    static final int NUMBERS = 1 << 16;

    /** How many numbers an engine has. */
    int count(int engine) {
        if (engines == 1) {
            return NUMBERS;
        }
        return engine == 0 ? NUMBERS / 2 : NUMBERS / 2 / (engines - 1);
    }

    /** The lower 16 bits of an engine's first number. */
    private int firstLow(int engine) {
        return engine == 0 ? 0 : NUMBERS / 2 + (engine - 1) * count(engine);
    }

    /** An engine's first number. */
    int first(int engine) {
        return Slot.queuePairNumber(slot, firstLow(engine));
    }

    /** An engine's last number. */
    int last(int engine) {
        return first(engine) + count(engine) - 1;
    }

    /** Whether a number is of this process. */
    boolean isOwn(int number) {
        return Slot.ofQueuePairNumber(number) == slot;
    }

    /** The engine of one of this process' numbers; the first one if a number is nobody's. */
    int engineOf(int number) {
        int low = number & 0xffff;
        if (engines == 1 || low < NUMBERS / 2) {
            return 0;
        }
        int engine = 1 + (low - NUMBERS / 2) / count(1);
        return engine < engines ? engine : 0;
    }
}

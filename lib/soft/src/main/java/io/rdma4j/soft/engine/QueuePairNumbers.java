package io.rdma4j.soft.engine;

import io.rdma4j.sharing.Slot;

/**
 * The layout of 24-bit queue pair numbers.
 *
 * <p>The upper 8 bits are the process' slot. The lower 16 bits are a random number from the range of the engine that drives the
 * queue pair. The destination of a frame alone therefore determines its process and its engine, even for a filter in the kernel.
 *
 * <p>The first engine has the lower half of the numbers, since it drives everything that does not request another one. The others
 * share the rest. This holds for all processes, so that others know whether the first engine of a process drives a queue pair.
 *
 * @param slot the slot of the process
 * @param engines the maximum number of engines of the process
 */
record QueuePairNumbers(int slot, int engines) {
    /** The numbers of a process. */
    static final int NUMBERS = 1 << 16;

    /** Returns how many numbers an engine has. */
    int count(int engine) {
        return engine == 0 ? NUMBERS / 2 : NUMBERS / 2 / (engines - 1);
    }

    /** Returns the lower 16 bits of an engine's first number. */
    private int firstLow(int engine) {
        return engine == 0 ? 0 : NUMBERS / 2 + (engine - 1) * count(engine);
    }

    /** Returns an engine's first number. */
    int first(int engine) {
        return Slot.queuePairNumber(slot, firstLow(engine));
    }

    /** Returns an engine's last number. */
    int last(int engine) {
        return first(engine) + count(engine) - 1;
    }

    /** Returns whether a number belongs to this process. */
    boolean isOwn(int number) {
        return Slot.ofQueuePairNumber(number) == slot;
    }

    /** Returns the engine of a number of this process; the first engine if the number belongs to none. */
    int engineOf(int number) {
        int low = number & 0xffff;
        if (engines == 1 || Slot.isOfMainEngine(number)) {
            return 0;
        }
        int engine = 1 + (low - NUMBERS / 2) / count(1);
        return engine < engines ? engine : 0;
    }
}

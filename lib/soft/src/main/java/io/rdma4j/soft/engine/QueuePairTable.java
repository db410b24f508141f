package io.rdma4j.soft.engine;

import java.util.ArrayDeque;
import java.util.function.Consumer;
import java.util.function.IntSupplier;
import org.jspecify.annotations.Nullable;

/**
 * An engine's queue pairs by number. Used under the engine lock.
 *
 * <p>It assigns the numbers at random. The number of a removed queue pair is not reused for a while, so that late
 * packets of the old connection do not reach a new queue pair.
 */
final class QueuePairTable {
    private static final int PAGE = 256;

    private record Held(int number, long untilNanos) {}

    private final QueuePairNumbers numbers;
    private final int first;
    private final int count;
    private final IntSupplier random;
    private final @Nullable DrivenQueuePair[][] pages = new @Nullable DrivenQueuePair[PAGE][];
    private final boolean[] taken = new boolean[PAGE * PAGE];
    private final ArrayDeque<Held> held = new ArrayDeque<>();
    private int size;

    QueuePairTable(QueuePairNumbers numbers, int engine, IntSupplier random) {
        this.numbers = numbers;
        first = numbers.first(engine);
        count = numbers.count(engine);
        this.random = random;
    }

    /** Returns the maximum number of queue pairs of an engine that has so many numbers. */
    static int maxQueuePairs(int numbers) {
        return numbers / 4 * 3;
    }

    /** Returns the limit of numbers in use or held off, which leaves enough free ones for a random search. */
    private static int maxReserved(int numbers) {
        return numbers / 8 * 7;
    }

    int size() {
        return size;
    }

    /** Reserves an unused number; returns -1 if there are too many queue pairs. */
    int reserve(long nowNanos) {
        if (size >= maxQueuePairs(count)) {
            return -1;
        }
        // If numbers are scarce, those held off longest are reused first.
        while (!held.isEmpty()
                && (held.getFirst().untilNanos() - nowNanos <= 0 || size + held.size() >= maxReserved(count))) {
            taken[held.removeFirst().number() & 0xffff] = false;
        }
        int number;
        do {
            number = first + (int) ((random.getAsInt() & 0xffff_ffffL) * count >>> 32);
        } while (taken[number & 0xffff]);
        taken[number & 0xffff] = true;
        size++;
        return number;
    }

    /** Releases a reserved number with which no packet was ever sent. It can be reused immediately. */
    void release(int number) {
        @Nullable DrivenQueuePair[] page = pages[number >>> 8 & 0xff];
        if (page != null) {
            page[number & 0xff] = null;
        }
        taken[number & 0xffff] = false;
        size--;
    }

    void put(DrivenQueuePair queuePair) {
        int low = queuePair.machine.number() & 0xffff;
        @Nullable DrivenQueuePair[] page = pages[low >>> 8];
        if (page == null) {
            page = new @Nullable DrivenQueuePair[PAGE];
            pages[low >>> 8] = page;
        }
        page[low & 0xff] = queuePair;
    }

    @Nullable
    DrivenQueuePair find(int number) {
        if (!numbers.isOwn(number)) {
            return null;
        }
        @Nullable DrivenQueuePair[] page = pages[number >>> 8 & 0xff];
        return page == null ? null : page[number & 0xff];
    }

    void forEach(Consumer<DrivenQueuePair> action) {
        for (@Nullable DrivenQueuePair[] page : pages) {
            for (int i = 0; page != null && i < PAGE; i++) {
                DrivenQueuePair queuePair = page[i];
                if (queuePair != null) {
                    action.accept(queuePair);
                }
            }
        }
    }

    /**
     * Removes a queue pair and holds its number off. Numbers expire in the order of their removal, so all must be held
     * off for the same time.
     */
    void remove(int number, long untilNanos) {
        int low = number & 0xffff;
        @Nullable DrivenQueuePair[] page = pages[low >>> 8];
        if (page == null || page[low & 0xff] == null) {
            return;
        }
        page[low & 0xff] = null;
        size--;
        held.addLast(new Held(number, untilNanos));
    }
}

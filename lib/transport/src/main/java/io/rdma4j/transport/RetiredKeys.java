package io.rdma4j.transport;

import org.jspecify.annotations.Nullable;

/**
 * The most recently invalidated keys, by their upper 24 bits: at least {@value #MIN_REMEMBERED}, at most twice as many. A
 * peer that holds a stale key must not reach other memory with it.
 *
 * <p>Two generations alternate: when the younger one is full it becomes the older one, and the previous older one is
 * discarded. Each has one bit for each of the 2<sup>24</sup> prefixes, in pages created on demand: 32 KiB for the first
 * key, and the maximum of 2 MiB after some hundred keys.
 */
final class RetiredKeys {
    /** Minimum number of keys that are remembered. */
    static final int MIN_REMEMBERED = 1 << 20;

    private static final int PAGE_BITS = 1 << 18;

    private static final class Generation {
        private final long[] @Nullable [] pages = new long[(1 << 24) / PAGE_BITS] @Nullable [];
        private int size;

        boolean contains(int prefix) {
            long[] page = pages[prefix / PAGE_BITS];
            return page != null && (page[prefix % PAGE_BITS / Long.SIZE] >>> prefix & 1) != 0;
        }

        void add(int prefix) {
            long[] page = pages[prefix / PAGE_BITS];
            if (page == null) {
                page = new long[PAGE_BITS / Long.SIZE];
                pages[prefix / PAGE_BITS] = page;
            }
            page[prefix % PAGE_BITS / Long.SIZE] |= 1L << prefix;
            size++;
        }
    }

    private Generation younger = new Generation();
    private @Nullable Generation older;

    /** Adds a key. */
    void add(int key) {
        int prefix = key >>> 8;
        if (younger.contains(prefix)) {
            return;
        }
        if (younger.size == MIN_REMEMBERED) {
            older = younger;
            younger = new Generation();
        }
        younger.add(prefix);
    }

    /** Returns whether a key with these upper 24 bits was invalidated recently. */
    boolean contains(int key) {
        Generation previous = older;
        return younger.contains(key >>> 8) || previous != null && previous.contains(key >>> 8);
    }
}

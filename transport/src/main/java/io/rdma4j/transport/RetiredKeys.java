package io.rdma4j.transport;

import org.jspecify.annotations.Nullable;

/**
 * The keys that were taken back last, by their upper 24 bits: at least {@value #MOST} of them, at most twice as many. A peer
 * that was given one must not find other memory under it.
 *
 * <p>Two sets take turns: the younger one is filled, and when it is full the older one is forgotten and filled next. Each has
 * one bit for each of the 2<sup>24</sup>, in pages that are made as they are needed: 32 KiB for the first key, and after some
 * hundred the 2 MiB that it ever takes.
 */
final class RetiredKeys {
    /** Keys that are remembered at least. */
    static final int MOST = 1 << 20;

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

    /** Remembers a key. */
    void add(int key) {
        int prefix = key >>> 8;
        if (younger.contains(prefix)) {
            return;
        }
        if (younger.size == MOST) {
            older = younger;
            younger = new Generation();
        }
        younger.add(prefix);
    }

    /** Whether a key with these upper 24 bits was taken back lately. */
    boolean contains(int key) {
        Generation before = older;
        return younger.contains(key >>> 8) || before != null && before.contains(key >>> 8);
    }
}

package io.rdma4j.simulator;

import io.rdma4j.transport.MemoryRegion;
import io.rdma4j.transport.ScatterGather;
import java.util.SplittableRandom;

/** Random lengths of messages, and random scatter/gather lists for them. */
final class RandomPieces {
    private RandomPieces() {}

    /** Returns a random length; lengths close to a multiple of the packet size are more likely. */
    static int length(SplittableRandom random, int maxBytes) {
        int length = switch (random.nextInt(4)) {
            case 0 -> random.nextInt(0, 9);
            case 1 -> (256 << random.nextInt(5)) * random.nextInt(1, 4) + random.nextInt(-1, 2);
            default -> random.nextInt(maxBytes + 1);
        };
        return Math.min(Math.max(length, 0), maxBytes);
    }

    /** Fills a list with one to three pieces that cover a range of a region. */
    static void split(SplittableRandom random, ScatterGather list, MemoryRegion region, int offset, int length) {
        int done = 0;
        list.clear();
        for (int pieces = random.nextInt(1, 4); pieces > 0; pieces--) {
            int piece = pieces == 1 ? length - done : random.nextInt(length - done + 1);
            list.add(region, (long) offset + done, piece);
            done += piece;
        }
    }
}

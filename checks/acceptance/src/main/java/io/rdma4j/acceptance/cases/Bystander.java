package io.rdma4j.acceptance.cases;

import io.rdma4j.acceptance.traffic.VerbsSide;
import io.rdma4j.verbs.MemoryRegion;
import io.rdma4j.verbs.QueuePair;
import io.rdma4j.verbs.WorkCompletion;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.net.InetAddress;
import java.time.Duration;

/** A connection that must not notice what happens to others: it writes numbers, and compares them at the other end. */
final class Bystander implements AutoCloseable {
    private static final InetAddress ADDRESS = InetAddress.getLoopbackAddress();
    private static final Duration LIMIT = Duration.ofSeconds(30);
    private static final int BYTES = 4096;
    private static final int BATCH = 20;

    private final VerbsSide from = new VerbsSide(ADDRESS, 64, 0);
    private final VerbsSide to = new VerbsSide(ADDRESS, 64, 0);
    private final QueuePair sender = from.queuePair(16, 1);
    private final QueuePair receiver = to.queuePair(16, 1);
    private final MemorySegment source = Arena.ofAuto().allocate(BYTES, 8);
    private final MemorySegment target = Arena.ofAuto().allocate(BYTES, 8);
    private final MemoryRegion sourceRegion = from.domain().register(source, VerbsSide.ALL);
    private final MemoryRegion targetRegion = to.domain().register(target, VerbsSide.ALL);
    private long messages;

    Bystander() {
        VerbsSide.connect(from, sender, to, receiver);
    }

    long messages() {
        return messages;
    }

    /** Transfers a few messages, and throws if one fails or arrives with other bytes. */
    void check() {
        for (int i = 0; i < BATCH; i++) {
            messages++;
            for (int at = 0; at < BYTES; at += 8) {
                source.set(ValueLayout.JAVA_LONG, at, messages * BYTES + at);
            }
            sender.postWrite(messages, sourceRegion, 0, BYTES, targetRegion.remote());
            WorkCompletion done = from.await(LIMIT);
            while (done.id() < messages) {
                done = from.await(LIMIT); // of a check that ran out of memory
            }
            if (!done.isSuccess() || source.mismatch(target) >= 0) {
                throw new IllegalStateException("another connection: message " + messages + ": " + done.status());
            }
        }
    }

    @Override
    public void close() {
        from.close();
        to.close();
    }
}

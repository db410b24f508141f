package io.rdma4j.simulator;

import io.rdma4j.simulator.network.SimulatedHost;
import io.rdma4j.transport.MemoryRegion;
import io.rdma4j.transport.ReceiveRequest;
import io.rdma4j.transport.SharedReceiveQueue;
import io.rdma4j.transport.XrcDomain;
import io.rdma4j.value.AccessFlag;
import java.lang.foreign.MemorySegment;
import java.util.ArrayDeque;
import java.util.Arrays;
import java.util.HashMap;
import java.util.Map;
import java.util.SplittableRandom;

/**
 * The receives that the sides on one host share in a run.
 *
 * <p>The model does not predict which side gets which receive. It checks that no receive is lost and none is used
 * twice.
 */
final class ReceivePool {
    private static final int QUEUE_NUMBER = 0x71;
    private static final int SLOTS = 64;

    private final SimulatedHost host;
    private final SplittableRandom random;
    private final int sizeBytes;
    private final SharedReceiveQueue queue;
    private final XrcDomain domain = new XrcDomain();
    private final byte[] bytes;
    private final MemoryRegion region;
    private final Map<Long, Integer> offsets = new HashMap<>();
    private final ArrayDeque<Integer> free = new ArrayDeque<>();
    private int shortfall;
    private int limitReports;
    private int timesArmed;
    private long nextId;

    /**
     * Creates an empty pool.
     *
     * @param host the host at which the receives' memory is registered
     * @param sizeBytes size of each receive
     * @param random the source of random sizes
     */
    ReceivePool(SimulatedHost host, int sizeBytes, SplittableRandom random) {
        this.host = host;
        this.random = random;
        this.sizeBytes = sizeBytes;
        queue = new SharedReceiveQueue(random.nextInt(1, 12), 2, 1, () -> limitReports++, QUEUE_NUMBER, null);
        domain.add(queue);
        bytes = new byte[SLOTS * sizeBytes];
        for (int slot = 0; slot < SLOTS; slot++) {
            free.add(slot * sizeBytes);
        }
        region = host.memory()
                .register(MemorySegment.ofArray(bytes), random.nextLong() & ~0xfffL, AccessFlag.LOCAL_WRITE.bit(), 1);
    }

    SharedReceiveQueue queue() {
        return queue;
    }

    /** Returns the domain through which targets of extended connections use the queue. */
    XrcDomain domain() {
        return domain;
    }

    /**
     * Posts a receive, and occasionally arms the limit or resizes the queue.
     *
     * @return false if the queue or the memory is full
     */
    boolean post() {
        if (random.nextInt(8) == 0) {
            changeLimits();
        }
        Integer offset = free.peek();
        ReceiveRequest request = offset == null ? null : queue.claim();
        if (offset == null || request == null) {
            return false;
        }
        free.remove();
        request.workRequestId = nextId++;
        offsets.put(request.workRequestId, offset);
        int first = random.nextInt(sizeBytes + 1);
        request.list.add(region, offset, first);
        request.list.add(region, (long) offset + first, sizeBytes - first);
        queue.publish();
        return true;
    }

    /**
     * Records receives of a side that has ended; it may have consumed receives that the others posted for themselves.
     */
    void addShortfall(int receives) {
        shortfall += receives;
    }

    /** Posts the missing receives, as long as the queue and the memory have space. */
    void postShortfall() {
        while (shortfall > 0 && post()) {
            shortfall--;
        }
    }

    private void changeLimits() {
        boolean resized = queue.resize(random.nextInt(1, 16));
        if (queue.limit() == 0 && resized) {
            queue.limit(random.nextInt(1, queue.capacity() + 1));
            timesArmed++;
        }
    }

    /**
     * Records the completion of a receive.
     *
     * @return true if the receive was posted, was not completed before, and holds the message
     */
    boolean complete(long id, byte[] message) {
        Integer offset = offsets.remove(id);
        if (offset == null) {
            return false;
        }
        free.add(offset);
        return Arrays.equals(bytes, offset, offset + message.length, message, 0, message.length);
    }

    /** Checks that all receives are completed or still in the queue. */
    void checkEnd() {
        if (offsets.size() != queue.size()) {
            throw new SimulationFailure(
                    offsets.size() + " shared receives are not completed, but " + queue.size() + " are in the queue");
        }
        if (limitReports > timesArmed) {
            throw new SimulationFailure(
                    "the limit was reported " + limitReports + " times, but armed " + timesArmed + " times");
        }
        host.memory().deregister(region);
    }
}

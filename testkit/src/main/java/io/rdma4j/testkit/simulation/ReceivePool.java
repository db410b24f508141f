package io.rdma4j.testkit.simulation;

import io.rdma4j.testkit.SimulatedHost;
import io.rdma4j.transport.AccessFlags;
import io.rdma4j.transport.MemoryRegion;
import io.rdma4j.transport.ReceiveRequest;
import io.rdma4j.transport.SharedReceiveQueue;
import io.rdma4j.transport.XrcDomain;
import java.lang.foreign.MemorySegment;
import java.util.ArrayDeque;
import java.util.Arrays;
import java.util.HashMap;
import java.util.Map;
import java.util.SplittableRandom;

/**
 * Receives that sides on one host share in a run. Which side gets which is not foreseen; that none is lost and none is
 * used twice is checked.
 */
final class ReceivePool {
    private static final int QUEUE_NUMBER = 0x71;
    private static final int PLACES = 64;

    private final SimulatedHost host;
    private final SplittableRandom random;
    private final int sizeBytes;
    private final SharedReceiveQueue queue;
    private final XrcDomain domain = new XrcDomain();
    private final byte[] bytes;
    private final MemoryRegion region;
    private final Map<Long, Integer> offsets = new HashMap<>();
    private final ArrayDeque<Integer> free = new ArrayDeque<>();
    private int owed;
    private int limitReports;
    private int armings;
    private long nextId;

    /**
     * Creates an empty pool.
     *
     * @param host where the receives' memory is registered
     * @param sizeBytes bytes of each receive
     * @param random for sizes
     */
    ReceivePool(SimulatedHost host, int sizeBytes, SplittableRandom random) {
        this.host = host;
        this.random = random;
        this.sizeBytes = sizeBytes;
        queue = new SharedReceiveQueue(random.nextInt(1, 12), 2, 1, () -> limitReports++, QUEUE_NUMBER, null);
        domain.add(queue);
        bytes = new byte[PLACES * sizeBytes];
        for (int place = 0; place < PLACES; place++) {
            free.add(place * sizeBytes);
        }
        region = host.memory()
                .register(MemorySegment.ofArray(bytes), random.nextLong() & ~0xfffL, AccessFlags.LOCAL_WRITE, 1);
    }

    SharedReceiveQueue queue() {
        return queue;
    }

    /** Where targets of extended connections find it. */
    XrcDomain domain() {
        return domain;
    }

    /** Posts a receive; says whether there was room. Now and then it arms the limit or changes the size, too. */
    boolean post() {
        if (random.nextInt(8) == 0) {
            disturb();
        }
        Integer place = free.peek();
        ReceiveRequest request = place == null ? null : queue.claim();
        if (place == null || request == null) {
            return false;
        }
        free.remove();
        request.workRequestId = nextId++;
        offsets.put(request.workRequestId, place);
        int first = random.nextInt(sizeBytes + 1);
        request.list.add(region, place, first);
        request.list.add(region, (long) place + first, sizeBytes - first);
        queue.publish();
        return true;
    }

    /** Notes that a side which has ended took receives, or may have, that others have posted for themselves. */
    void owe(int receives) {
        owed += receives;
    }

    /** Posts what is owed, as far as there is room. */
    void payBack() {
        while (owed > 0 && post()) {
            owed--;
        }
    }

    private void disturb() {
        boolean resized = queue.resize(random.nextInt(1, 16));
        if (queue.limit() == 0 && resized) {
            queue.limit(random.nextInt(1, queue.capacity() + 1));
            armings++;
        }
    }

    /** Takes note that a receive is completed; says whether it was posted and not completed before. */
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
                    offsets.size() + " shared receives are not completed, but " + queue.size() + " are left");
        }
        if (limitReports > armings) {
            throw new SimulationFailure("the limit was reported " + limitReports + " times for " + armings);
        }
        host.memory().deregister(region);
    }
}

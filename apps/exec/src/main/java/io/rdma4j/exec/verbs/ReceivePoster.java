package io.rdma4j.exec.verbs;

import io.rdma4j.exec.bridge.Failures;
import io.rdma4j.verbs.ReceiveWorkRequest;
import io.rdma4j.verbs.abi.Native;
import io.rdma4j.verbs.abi.VerbsStructures.ReceiveRequest;
import io.rdma4j.verbs.spi.SpinLock;

/**
 * Posts chains of {@code struct ibv_recv_wr} to a queue pair or a shared receive queue, several requests at a time.
 * Thread safe. Allocates only request objects, which it reuses.
 */
final class ReceivePoster {
    /** The queue to which the requests go. */
    interface Target {
        /** Posts one request. */
        void post(ReceiveWorkRequest request);

        /** Posts the first {@code count} requests. */
        void postAll(ReceiveWorkRequest[] requests, int count);
    }

    private static final int BURST = 16;

    private final SpinLock lock = new SpinLock();
    private final Target target;
    private final MemoryLookup memory;
    private final ReceiveWorkRequest[] requests = new ReceiveWorkRequest[BURST];

    /** The number of request objects. Each is created when a chain first needs it. */
    private int created;

    ReceivePoster(Target target, Domain domain) {
        this.target = target;
        memory = new MemoryLookup(domain);
    }

    /**
     * Posts a chain.
     *
     * @param first the address of the first request
     * @param bad the location to which the address of the first request that was not posted is written after an error
     * @return 0 or an error number
     */
    int post(long first, long bad) {
        long start = first;
        lock.lock();
        try {
            while (start != 0) {
                long next = start;
                int count = 0;
                while (next != 0 && count < BURST) {
                    fill(request(count++), next);
                    next = Native.longAt(next + ReceiveRequest.NEXT);
                }
                post(count);
                start = next;
            }
            return 0;
        } catch (Throwable failure) {
            Native.putLong(bad, Chains.skip(start, failure));
            return Failures.errno(failure);
        } finally {
            lock.unlock();
        }
    }

    private ReceiveWorkRequest request(int index) {
        if (index == created) {
            requests[created++] = new ReceiveWorkRequest();
        }
        return requests[index];
    }

    private void fill(ReceiveWorkRequest request, long from) {
        request.reset(Native.longAt(from + ReceiveRequest.ID));
        memory.addAll(
                request.list(),
                Native.longAt(from + ReceiveRequest.LIST),
                Native.intAt(from + ReceiveRequest.LIST_LENGTH));
    }

    private void post(int count) {
        if (count == 1) {
            target.post(requests[0]);
        } else {
            target.postAll(requests, count);
        }
    }
}

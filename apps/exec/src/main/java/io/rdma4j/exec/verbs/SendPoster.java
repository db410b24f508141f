package io.rdma4j.exec.verbs;

import io.rdma4j.exec.bridge.Failures;
import io.rdma4j.verbs.QueuePair;
import io.rdma4j.verbs.RdmaException;
import io.rdma4j.verbs.SendWorkRequest;
import io.rdma4j.verbs.abi.BatchPosting;
import io.rdma4j.verbs.abi.Native;
import io.rdma4j.verbs.abi.VerbsStructures.SendRequest;
import io.rdma4j.verbs.spi.SpinLock;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/**
 * Posts chains of {@code struct ibv_send_wr} to a queue pair, several requests at a time. Thread safe. Allocates only
 * request objects and memory for inline data, which it reuses.
 */
final class SendPoster implements AutoCloseable {
    private static final int BURST = 16;

    private final SpinLock lock = new SpinLock();
    private final QueuePair queuePair;
    private final SendTranslation translation;
    private SendWorkRequest[] requests = new SendWorkRequest[BURST];

    /** The number of request objects. Each is created when a chain first needs it. */
    private int created;

    /** The reason why a request of the current chain cannot be posted; null if there is none. */
    private @Nullable RdmaException refusal;

    SendPoster(QueuePair queuePair, Domain domain) {
        this.queuePair = queuePair;
        translation = new SendTranslation(queuePair, domain);
    }

    /**
     * Posts a chain.
     *
     * @param first the address of the first request
     * @param bad the location to which the address of the first request that was not posted is written after an error;
     *     0 to post all requests or none
     * @return 0 or an error number
     */
    int post(long first, long bad) {
        return bad == 0 ? postTogether(first) : postInOrder(first, bad);
    }

    private int postInOrder(long first, long bad) {
        long start = first;
        lock.lock();
        try {
            while (start != 0) {
                long end = postBurst(start);
                if (refusal != null) {
                    start = end;
                    throw refusal;
                }
                start = end;
            }
            return 0;
        } catch (Throwable failure) {
            Native.putLong(bad, Chains.skip(start, failure));
            return Failures.errno(failure);
        } finally {
            refusal = null;
            lock.unlock();
        }
    }

    private int postTogether(long first) {
        lock.lock();
        try {
            int count = 0;
            translation.begin(first);
            for (long next = first; next != 0; next = Native.longAt(next + SendRequest.NEXT)) {
                boolean _ = translation.fill(request(count++), next); // there is memory for all inline data
            }
            postTogether(count);
            return 0;
        } catch (Throwable failure) {
            return Failures.errno(failure);
        } finally {
            lock.unlock();
        }
    }

    private void postTogether(int count) {
        if (count == 1) {
            queuePair.postSend(requests[0]);
        } else if (queuePair instanceof BatchPosting together) {
            together.postTogether(requests, count);
        } else {
            throw Failures.unsupported("ibv_wr_complete", queuePair + " is not a queue pair of a software device");
        }
    }

    /**
     * Posts the requests of a chain from {@code start}, as many as fit, and returns the address of the next one, or 0.
     * If that one cannot be translated, {@link #refusal} has the reason.
     */
    private long postBurst(long start) {
        long next = start;
        int count = 0;
        translation.begin();
        while (next != 0 && count < BURST) {
            try {
                if (!translation.fill(request(count), next)) {
                    break; // the memory for inline data is full until the next burst
                }
            } catch (RdmaException refused) {
                refusal = refused;
                break;
            }
            count++;
            next = Native.longAt(next + SendRequest.NEXT);
        }
        post(count);
        return next;
    }

    private SendWorkRequest request(int index) {
        if (index == created) {
            if (created == requests.length) {
                requests = Arrays.copyOf(requests, 2 * created);
            }
            requests[created++] = new SendWorkRequest();
        }
        return requests[index];
    }

    private void post(int count) {
        if (count == 1) {
            queuePair.postSend(requests[0]);
        } else if (count > 1) {
            queuePair.postSends(requests, count);
        }
    }

    @Override
    public void close() {
        lock.lock();
        try {
            translation.close();
        } finally {
            lock.unlock();
        }
    }
}

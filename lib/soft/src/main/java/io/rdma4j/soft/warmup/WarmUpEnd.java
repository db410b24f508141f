package io.rdma4j.soft.warmup;

import io.rdma4j.cm.CmId;
import io.rdma4j.value.AccessFlag;
import io.rdma4j.verbs.CompletionQueue;
import io.rdma4j.verbs.Errno;
import io.rdma4j.verbs.MemoryRegion;
import io.rdma4j.verbs.QueuePair;
import io.rdma4j.verbs.RdmaException;
import io.rdma4j.verbs.ReceiveWorkRequest;
import io.rdma4j.verbs.SendWorkRequest;
import io.rdma4j.verbs.WorkCompletion;
import java.lang.foreign.Arena;
import java.util.Objects;

/** One end of a warm-up's connection. Not thread safe. */
final class WarmUpEnd implements AutoCloseable {
    private static final int BATCH = 16;

    private final QueuePair queuePair;
    private final CompletionQueue queue;
    private final MemoryRegion region;
    private final ReceiveWorkRequest receive = new ReceiveWorkRequest();
    private final WorkCompletion[] batch = WorkCompletion.array(BATCH);

    /**
     * Creates an end.
     *
     * @param queue the queue of all its completions
     * @param bytes the size of its memory
     */
    WarmUpEnd(CmId id, CompletionQueue queue, Arena arena, int bytes) {
        this.queue = queue;
        queuePair = Objects.requireNonNull(id.queuePair(), "listen and connect create it");
        region = queuePair
                .protectionDomain()
                .register(
                        arena.allocate(bytes), AccessFlag.LOCAL_WRITE, AccessFlag.REMOTE_WRITE, AccessFlag.REMOTE_READ);
        receive.reset(0).into(region, 0, bytes);
    }

    MemoryRegion region() {
        return region;
    }

    void post(SendWorkRequest request) {
        queuePair.postSend(request);
    }

    void postReceive() {
        queuePair.postReceive(receive);
    }

    /** Polls for completions and returns their number. */
    int poll() {
        int count = queue.poll(batch);
        for (int i = 0; i < count; i++) {
            if (!batch[i].isSuccess()) {
                throw new RdmaException(
                        "ibv_poll_cq", Errno.EIO, "an operation of the warm-up ended with " + batch[i].status(), "");
            }
        }
        return count;
    }

    @Override
    public void close() {
        region.close();
    }
}

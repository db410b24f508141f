package io.rdma4j.tools.perftest;

import io.rdma4j.verbs.AddressHandle;
import io.rdma4j.verbs.MemoryRegion;
import io.rdma4j.verbs.QueuePair;
import io.rdma4j.verbs.ReceiveWorkRequest;
import io.rdma4j.verbs.SendWorkRequest;
import io.rdma4j.verbs.SharedReceiveQueue;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * A queue pair of a run with its memory and work requests. One half of the memory holds the data that this side sends
 * or fetches. The peer's operations access the other half, and messages are received there. Small messages cycle
 * through slots of their half. Posting allocates nothing. Not thread safe.
 */
final class QueuePairRun {
    /** The length of the global routing header before the data of a datagram. */
    static final int GRH_BYTES = 40;

    private final Settings settings;
    private final int index;
    private final MemoryRegion region;
    private final long sendOffset;
    private final long receiveOffset;
    private final SendWorkRequest[] sends;
    private final ReceiveWorkRequest[] receives;
    private final @Nullable SharedReceiveQueue sharedReceives;
    private @Nullable QueuePair queuePair;
    private PerftestDestination remote = PerftestDestination.EMPTY;
    private @Nullable AddressHandle handle;
    private int remoteQueuePair;
    private int remoteQueueKey;
    private long size;
    private long stride;
    private int slots = 1;
    private int sendSlot;
    private long received;

    /** The number of operations posted. */
    long posted;

    /** The number of operations completed. */
    long done;

    /**
     * Creates a queue pair's part of a run.
     *
     * @param sharedReceives the queue to which it posts receives, or null if the queue pair has its own
     */
    QueuePairRun(
            Settings settings,
            int index,
            MemoryRegion region,
            long sendOffset,
            long receiveOffset,
            @Nullable SharedReceiveQueue sharedReceives) {
        this.settings = settings;
        this.index = index;
        this.region = region;
        this.sendOffset = sendOffset;
        this.receiveOffset = receiveOffset;
        size = settings.sizeBytes;
        sends = new SendWorkRequest[settings.postList];
        for (int i = 0; i < sends.length; i++) {
            sends[i] = new SendWorkRequest();
        }
        this.sharedReceives = sharedReceives;
        receives = new ReceiveWorkRequest[settings.receivePostList];
        for (int i = 0; i < receives.length; i++) {
            receives[i] = new ReceiveWorkRequest();
        }
    }

    int index() {
        return index;
    }

    MemoryRegion region() {
        return region;
    }

    /** Returns the offset in the region of the data that this side's operations send or fetch. */
    long sendOffset() {
        return sendOffset;
    }

    /** Returns the offset in the region of the data that the peer's operations access. */
    long receiveOffset() {
        return receiveOffset;
    }

    /** Returns the address of the memory that the peer's operations access. */
    long remoteAddress() {
        return region.address() + receiveOffset;
    }

    void setQueuePair(QueuePair created) {
        queuePair = created;
    }

    QueuePair queuePair() {
        return Objects.requireNonNull(queuePair);
    }

    boolean hasQueuePair() {
        return queuePair != null;
    }

    void setRemote(PerftestDestination peer) {
        remote = peer;
    }

    PerftestDestination remote() {
        return remote;
    }

    /** Sets the destination of datagrams. */
    void setDatagramPeer(AddressHandle path, int number, int queueKey) {
        handle = path;
        remoteQueuePair = number;
        remoteQueueKey = queueKey;
    }

    @Nullable
    AddressHandle handle() {
        return handle;
    }

    int remoteQueuePair() {
        return remoteQueuePair;
    }

    int remoteQueueKey() {
        return remoteQueueKey;
    }

    /**
     * Resets the counters for a run with messages of the given size.
     *
     * @param cycle true if small messages cycle through slots, false if all use the same slot
     */
    void prepare(long sizeBytes, boolean cycle) {
        size = sizeBytes;
        posted = 0;
        done = 0;
        received = 0;
        sendSlot = 0;
        stride = settings.strideBytes(sizeBytes);
        slots = cycle && sizeBytes <= settings.cycleBytes / 2 ? (int) Math.max(1, settings.cycleBytes / stride) : 1;
    }

    /** Posts the next operation. */
    void post(boolean signaled) {
        fill(sends[0], signaled);
        queuePair().postSend(sends[0]);
    }

    /**
     * Posts a list of operations with one call. Every {@code moderation}-th one and the last one of the run are
     * signaled.
     *
     * @param limit the number of operations of the run
     */
    void postList(int moderation, long limit) {
        for (SendWorkRequest each : sends) {
            fill(each, (posted + 1) % moderation == 0 || posted + 1 == limit);
        }
        if (sends.length == 1) {
            queuePair().postSend(sends[0]);
        } else {
            queuePair().postSends(sends, sends.length);
        }
    }

    private void fill(SendWorkRequest send, boolean signaled) {
        long offset = sendSlot * stride;
        send.reset(index);
        switch (settings.operation) {
            case SEND -> {
                if (handle != null) {
                    send.to(handle, remoteQueuePair, remoteQueueKey);
                }
            }
            case WRITE -> send.write(remote.address() + offset, remote.remoteKey());
            case READ -> send.read(remote.address() + offset, remote.remoteKey());
            case ATOMIC -> {
                if (settings.compareAndSwap) {
                    send.compareAndSwap(remote.address() + offset, remote.remoteKey(), 0, 0);
                } else {
                    send.fetchAndAdd(remote.address() + offset, remote.remoteKey(), 1);
                }
            }
        }
        if (settings.immediate) {
            send.withImmediate(0);
        }
        if (settings.isExtended()) {
            send.toSharedReceiveQueue(remote.sharedReceiveQueue());
        }
        send.from(region, sendOffset + offset, size);
        if (signaled) {
            send.signaled();
        }
        if (size <= settings.inlineBytes) {
            send.inline();
        }
        posted++;
        sendSlot = sendSlot + 1 == slots ? 0 : sendSlot + 1;
    }

    /** Posts a list of receives with one call. */
    void postReceives() {
        for (ReceiveWorkRequest each : receives) {
            fill(each);
        }
        if (receives.length == 1) {
            postReceive(receives[0]);
        } else if (sharedReceives == null) {
            queuePair().postReceives(receives, receives.length);
        } else {
            sharedReceives.postReceives(receives, receives.length);
        }
    }

    /** Posts a receive to the queue from which this queue pair receives. */
    void postReceive(ReceiveWorkRequest receive) {
        if (sharedReceives == null) {
            queuePair().postReceive(receive);
        } else {
            sharedReceives.postReceive(receive);
        }
    }

    private void fill(ReceiveWorkRequest receive) {
        receive.reset(index);
        if (settings.operation == MeasuredOperation.WRITE) {
            return; // for immediate data only; the WRITE specifies the destination of its data
        }
        if (settings.isDatagram()) {
            // The data after the header starts at a cache line.
            receive.into(region, receiveOffset + settings.cacheLineBytes - GRH_BYTES, size + GRH_BYTES);
        } else {
            receive.into(region, receiveOffset + received % slots * stride, size);
            received++;
        }
    }
}

package io.rdma4j.tools.perftest;

import io.rdma4j.verbs.AddressHandle;
import io.rdma4j.verbs.MemoryRegion;
import io.rdma4j.verbs.QueuePair;
import io.rdma4j.verbs.ReceiveWorkRequest;
import io.rdma4j.verbs.SendWorkRequest;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * A queue pair with its memory and what it posts. Half of the memory is what it sends or fetches into, the other half is the
 * peer's to write or read, or where messages arrive. Small messages go round in their half. Posting allocates nothing. Not
 * thread safe.
 */
final class QueuePairRun {
    /** Bytes before the data of a datagram. */
    static final int ROUTE_BYTES = 40;

    private final Settings settings;
    private final int index;
    private final MemoryRegion region;
    private final long sendAt;
    private final long receiveAt;
    private final SendWorkRequest[] sends;
    private final ReceiveWorkRequest receive = new ReceiveWorkRequest();
    private @Nullable QueuePair queuePair;
    private PerftestDestination remote = PerftestDestination.EMPTY;
    private @Nullable AddressHandle handle;
    private int remoteQueuePair;
    private int remoteQueueKey;
    private long size;
    private long stride;
    private int places = 1;
    private int sendPlace;
    private long received;

    /** Operations posted. */
    long posted;

    /** Operations done. */
    long done;

    QueuePairRun(Settings settings, int index, MemoryRegion region, long sendAt, long receiveAt) {
        this.settings = settings;
        this.index = index;
        this.region = region;
        this.sendAt = sendAt;
        this.receiveAt = receiveAt;
        size = settings.sizeBytes;
        sends = new SendWorkRequest[settings.postList];
        for (int i = 0; i < sends.length; i++) {
            sends[i] = new SendWorkRequest();
        }
    }

    int index() {
        return index;
    }

    MemoryRegion region() {
        return region;
    }

    /** Where in the region this side's operations take their data, or leave them. */
    long sendAt() {
        return sendAt;
    }

    /** Where in the region the peer's operations do. */
    long receiveAt() {
        return receiveAt;
    }

    /** What peers need to reach the memory that is theirs. */
    long remoteAddress() {
        return region.address() + receiveAt;
    }

    void use(QueuePair made) {
        queuePair = made;
    }

    QueuePair queuePair() {
        return Objects.requireNonNull(queuePair);
    }

    boolean hasQueuePair() {
        return queuePair != null;
    }

    void connectTo(PerftestDestination peer) {
        remote = peer;
    }

    PerftestDestination remote() {
        return remote;
    }

    /** Where datagrams go. */
    void sendTo(AddressHandle way, int number, int queueKey) {
        handle = way;
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
     * Begins anew with messages of a size.
     *
     * @param goRound whether small messages go round in the memory; else all are at the same place
     */
    void prepare(long sizeBytes, boolean goRound) {
        size = sizeBytes;
        posted = 0;
        done = 0;
        received = 0;
        sendPlace = 0;
        stride = settings.strideBytes(sizeBytes);
        places = goRound && sizeBytes <= settings.cycleBytes / 2 ? (int) Math.max(1, settings.cycleBytes / stride) : 1;
    }

    /** Posts the next operation. */
    void post(boolean signaled) {
        fill(sends[0], signaled);
        queuePair().postSend(sends[0]);
    }

    /**
     * Posts the next operations of a list together. Every {@code moderation}-th is signaled, and the last one of the run.
     *
     * @param limit operations of the run
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
        long place = sendPlace * stride;
        send.reset(index);
        switch (settings.operation) {
            case SEND -> {
                if (handle != null) {
                    send.to(handle, remoteQueuePair, remoteQueueKey);
                }
            }
            case WRITE -> send.write(remote.address() + place, remote.remoteKey());
            case READ -> send.read(remote.address() + place, remote.remoteKey());
            case ATOMIC -> {
                if (settings.compareAndSwap) {
                    send.compareAndSwap(remote.address() + place, remote.remoteKey(), 0, 0);
                } else {
                    send.fetchAndAdd(remote.address() + place, remote.remoteKey(), 1);
                }
            }
        }
        send.from(region, sendAt + place, size);
        if (signaled) {
            send.signaled();
        }
        if (size <= settings.inlineBytes) {
            send.inline();
        }
        posted++;
        sendPlace = sendPlace + 1 == places ? 0 : sendPlace + 1;
    }

    /** Posts a receive. */
    void postReceive() {
        if (settings.isDatagram()) {
            // Data begin where a cache line does.
            receive.reset(index).into(region, receiveAt + settings.cacheLineBytes - ROUTE_BYTES, size + ROUTE_BYTES);
        } else {
            receive.reset(index).into(region, receiveAt + received % places * stride, size);
            received++;
        }
        queuePair().postReceive(receive);
    }
}

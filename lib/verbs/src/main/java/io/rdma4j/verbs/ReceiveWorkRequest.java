package io.rdma4j.verbs;

import io.rdma4j.value.AccessFlag;

/**
 * A receive to post, with memory for a message of the peer. It is reusable, since {@link QueuePair#postReceive} copies
 * it. C: {@code struct ibv_recv_wr}. Not thread safe.
 */
public final class ReceiveWorkRequest {
    private long id;
    private final ScatterGatherList list = new ScatterGatherList();

    /** Creates an empty request, which receives messages of zero bytes. */
    public ReceiveWorkRequest() {}

    /** Empties the request and sets its number. */
    public ReceiveWorkRequest reset(long newId) {
        id = newId;
        list.clear();
        return this;
    }

    /** Adds memory; see {@link ScatterGatherList#add}. The region needs {@link AccessFlag#LOCAL_WRITE}. */
    public ReceiveWorkRequest into(MemoryRegion region, long offsetBytes, long lengthBytes) {
        list.add(region, offsetBytes, lengthBytes);
        return this;
    }

    /** Adds a whole region. */
    public ReceiveWorkRequest into(MemoryRegion region) {
        return into(region, 0, region.lengthBytes());
    }

    /** Returns the application's number of the request. */
    public long id() {
        return id;
    }

    /** Returns the memory. */
    public ScatterGatherList list() {
        return list;
    }
}

package io.rdma4j.verbs;

/**
 * A receive to post: where the next message of the peer goes. Reusable: {@link QueuePair#postReceive} copies it. C:
 * {@code struct ibv_recv_wr}. Not thread safe.
 */
public final class ReceiveWorkRequest {
    private long id;
    private final ScatterGatherList list = new ScatterGatherList();

    /** Creates an empty request: it takes messages of zero bytes. */
    public ReceiveWorkRequest() {}

    /** Empties the request and numbers it. */
    public ReceiveWorkRequest reset(long newId) {
        id = newId;
        list.clear();
        return this;
    }

    /** Adds memory; see {@link ScatterGatherList#add}. It needs {@link AccessFlag#LOCAL_WRITE}. */
    public ReceiveWorkRequest into(MemoryRegion region, long offsetBytes, long lengthBytes) {
        list.add(region, offsetBytes, lengthBytes);
        return this;
    }

    /** Adds a whole region. */
    public ReceiveWorkRequest into(MemoryRegion region) {
        return into(region, 0, region.lengthBytes());
    }

    /** The application's number. */
    public long id() {
        return id;
    }

    /** The memory. */
    public ScatterGatherList list() {
        return list;
    }
}

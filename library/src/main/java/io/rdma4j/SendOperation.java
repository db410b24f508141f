package io.rdma4j;

import io.rdma4j.verbs.RemoteMemory;
import io.rdma4j.verbs.SendWorkRequest;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/** The operations of a connection, by the name of their call. */
enum SendOperation {
    WRITE("write"),
    READ("read"),
    SEND("send"),
    FETCH_AND_ADD("fetchAndAdd"),
    COMPARE_AND_SWAP("compareAndSwap");

    private final String call;

    SendOperation(String call) {
        this.call = call;
    }

    /** Returns the name of the call, for messages. */
    String call() {
        return call;
    }

    /**
     * Makes an empty work request one of this operation.
     *
     * @param local the local memory
     * @param remote the peer's memory, null for a message
     * @param first the summand, or the expected value
     * @param second the value to store
     */
    void fill(SendWorkRequest request, Buffer local, @Nullable RemoteMemory remote, long first, long second) {
        request.from(local.region(), local.offsetBytes(), local.lengthBytes());
        if (this != SEND) {
            RemoteMemory memory = Objects.requireNonNull(remote);
            long address = memory.address();
            int key = memory.key();
            switch (this) {
                case WRITE -> request.write(address, key);
                case READ -> request.read(address, key);
                case FETCH_AND_ADD -> request.fetchAndAdd(address, key, first);
                default -> request.compareAndSwap(address, key, first, second);
            }
        }
    }
}

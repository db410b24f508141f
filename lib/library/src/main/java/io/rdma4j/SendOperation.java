package io.rdma4j;

import io.rdma4j.value.PlacementType;
import io.rdma4j.verbs.RemoteMemory;
import io.rdma4j.verbs.SendWorkRequest;
import java.util.EnumSet;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** The operations of a connection, by the name of their call. */
enum SendOperation {
    WRITE("write"),
    WRITE_WITH_IMMEDIATE("writeWithImmediate"),
    READ("read"),
    SEND("send"),
    SEND_WITH_IMMEDIATE("sendWithImmediate"),
    FETCH_AND_ADD("fetchAndAdd"),
    COMPARE_AND_SWAP("compareAndSwap"),
    ATOMIC_WRITE("atomicWrite"),
    FLUSH("flush");

    /** The sets of placement types, by their bits. */
    private static final List<Set<PlacementType>> TYPES = List.of(
            Set.of(),
            EnumSet.of(PlacementType.GLOBAL),
            EnumSet.of(PlacementType.PERSISTENT),
            EnumSet.allOf(PlacementType.class));

    /** The calls that need a place for a message at the peer. */
    private static final Set<String> CALLS_FOR_A_PLACE =
            Set.of(WRITE_WITH_IMMEDIATE.call, SEND.call, SEND_WITH_IMMEDIATE.call);

    private final String call;

    SendOperation(String call) {
        this.call = call;
    }

    /** Returns whether the operation of a call needs a place for a message at the peer. */
    static boolean needsPlace(String call) {
        return CALLS_FOR_A_PLACE.contains(call);
    }

    /** Returns the name of the call, for messages. */
    String call() {
        return call;
    }

    /**
     * Fills an empty work request with this operation.
     *
     * @param local the local memory, null for an operation without it
     * @param remote the peer's memory, null for a message
     * @param first the immediate data, the summand, the expected value, the value to write, or the bits of the placement types
     * @param second the replacement of a compare-and-swap
     */
    void fill(SendWorkRequest request, @Nullable Buffer local, @Nullable RemoteMemory remote, long first, long second) {
        if (local != null) {
            request.from(local.openRegion(), local.offsetBytes(), local.lengthBytes());
        }
        switch (this) {
            case SEND -> {} // an empty work request is a send
            case SEND_WITH_IMMEDIATE -> request.withImmediate((int) first);
            default -> fill(request, Objects.requireNonNull(remote), first, second);
        }
    }

    private void fill(SendWorkRequest request, RemoteMemory remote, long first, long second) {
        long address = remote.address();
        int key = remote.key();
        switch (this) {
            case WRITE -> request.write(address, key);
            case WRITE_WITH_IMMEDIATE -> request.write(address, key).withImmediate((int) first);
            case READ -> request.read(address, key);
            case FETCH_AND_ADD -> request.fetchAndAdd(address, key, first);
            case COMPARE_AND_SWAP -> request.compareAndSwap(address, key, first, second);
            case ATOMIC_WRITE -> request.atomicWrite(address, key, first);
            default -> request.flush(address, key, remote.lengthBytes(), TYPES.get((int) first));
        }
    }
}

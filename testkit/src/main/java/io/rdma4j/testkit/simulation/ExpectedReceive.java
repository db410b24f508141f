package io.rdma4j.testkit.simulation;

import org.jspecify.annotations.Nullable;

/** A receive that the peer must see, in this place of the order. */
final class ExpectedReceive {
    /** The bytes in its buffer; empty for a WRITE with immediate data. */
    final byte[] message;

    /** The length that its completion must say. */
    final int byteLength;

    /** The immediate data, or null. */
    final @Nullable Integer immediate;

    /** The own key that its completion says was taken back, or null. */
    final @Nullable Integer revokedKey;

    /** Whether an RDMA WRITE takes it. */
    final boolean isWrite;

    ExpectedReceive(
            byte[] message,
            int byteLength,
            @Nullable Integer immediate,
            @Nullable Integer revokedKey,
            boolean isWrite) {
        this.message = message;
        this.byteLength = byteLength;
        this.immediate = immediate;
        this.revokedKey = revokedKey;
        this.isWrite = isWrite;
    }
}

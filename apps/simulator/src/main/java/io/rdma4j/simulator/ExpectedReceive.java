package io.rdma4j.simulator;

import org.jspecify.annotations.Nullable;

/** A receive that the peer must complete, in the order of these objects. */
final class ExpectedReceive {
    /** The bytes in the buffer; empty for a WRITE with immediate data. */
    final byte[] message;

    /** The length in the completion. */
    final int byteLength;

    /** The immediate data, or null. */
    final @Nullable Integer immediate;

    /** The receiver's key that the completion reports as invalidated, or null. */
    final @Nullable Integer revokedKey;

    /** True if an RDMA WRITE with immediate data consumes the receive. */
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

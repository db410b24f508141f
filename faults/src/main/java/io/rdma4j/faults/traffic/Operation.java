package io.rdma4j.faults.traffic;

import io.rdma4j.verbs.CompletionOpcode;

/** What moves the bytes of an {@link Exchange}. */
public enum Operation {
    /** SEND into posted receives. */
    SEND(CompletionOpcode.SEND),
    /** RDMA WRITE. */
    WRITE(CompletionOpcode.RDMA_WRITE),
    /** RDMA WRITE with immediate data, which takes a receive. */
    WRITE_IMMEDIATE(CompletionOpcode.RDMA_WRITE),
    /** RDMA READ. */
    READ(CompletionOpcode.RDMA_READ);

    private final CompletionOpcode completion;

    Operation(CompletionOpcode completion) {
        this.completion = completion;
    }

    /** What its completion says. */
    CompletionOpcode completion() {
        return completion;
    }
}

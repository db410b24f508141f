package io.rdma4j.acceptance.traffic;

import io.rdma4j.verbs.CompletionOpcode;

/** An operation that transfers the bytes of an {@link Exchange}. */
public enum TrafficOperation {
    /** SEND into posted receives. */
    SEND(0, CompletionOpcode.SEND),
    /** RDMA WRITE. */
    WRITE(1, CompletionOpcode.RDMA_WRITE),
    /** RDMA WRITE with immediate data, which consumes a receive. */
    WRITE_IMMEDIATE(2, CompletionOpcode.RDMA_WRITE),
    /** RDMA READ. */
    READ(3, CompletionOpcode.RDMA_READ);

    private final int code;
    private final CompletionOpcode completion;

    TrafficOperation(int code, CompletionOpcode completion) {
        this.code = code;
        this.completion = completion;
    }

    /** Returns the code of the operation, for {@link #ofCode}. */
    int code() {
        return code;
    }

    /** Returns the operation with a code. */
    static TrafficOperation ofCode(int code) {
        for (TrafficOperation operation : values()) {
            if (operation.code == code) {
                return operation;
            }
        }
        throw new IllegalArgumentException("no operation has the code " + code);
    }

    /** Returns the opcode of its completions. */
    CompletionOpcode completion() {
        return completion;
    }
}

package io.rdma4j.exec.verbs;

/** The numbers of the operations of send work requests, as constants for {@code switch}. C: {@code enum ibv_wr_opcode}. */
final class Opcodes {
    static final int RDMA_WRITE = 0;
    static final int RDMA_WRITE_WITH_IMMEDIATE = 1;
    static final int SEND = 2;
    static final int SEND_WITH_IMMEDIATE = 3;
    static final int RDMA_READ = 4;
    static final int COMPARE_AND_SWAP = 5;
    static final int FETCH_AND_ADD = 6;
    static final int LOCAL_INVALIDATE = 7;
    static final int BIND_MEMORY_WINDOW = 8;
    static final int SEND_WITH_INVALIDATE = 9;
    static final int FLUSH = 14;
    static final int ATOMIC_WRITE = 15;

    private Opcodes() {}
}

package io.rdma4j.tools.perftest;

/** The operation that a tool measures. */
public enum MeasuredOperation {
    /** SEND, which consumes a receive of the peer. */
    SEND("send", "Send"),
    /** RDMA WRITE. */
    WRITE("write", "RDMA_Write"),
    /** RDMA READ. */
    READ("read", "RDMA_Read"),
    /** Fetch-and-add, or compare-and-swap. */
    ATOMIC("atomic", "Atomic");

    private final String word;
    private final String title;

    MeasuredOperation(String word, String title) {
        this.word = word;
        this.title = title;
    }

    /** Returns the word in the names of the tools. */
    String word() {
        return word;
    }

    /** Returns the title in the heads of the tables. */
    String title() {
        return title;
    }

    /** Returns whether the peer responds with data. The latency is then the time of a whole round trip. */
    boolean isFetch() {
        return this == READ || this == ATOMIC;
    }
}

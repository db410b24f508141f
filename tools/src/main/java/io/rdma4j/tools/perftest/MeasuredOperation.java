package io.rdma4j.tools.perftest;

/** What a tool measures. */
public enum MeasuredOperation {
    /** Messages that take a receive. */
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

    /** In the names of the tools. */
    String word() {
        return word;
    }

    /** In the heads of the tables. */
    String title() {
        return title;
    }

    /** Whether the peer answers with data: a latency is that of the whole round trip. */
    boolean isFetch() {
        return this == READ || this == ATOMIC;
    }
}

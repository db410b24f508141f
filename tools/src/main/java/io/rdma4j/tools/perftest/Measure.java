package io.rdma4j.tools.perftest;

/** What a tool finds out about an operation. */
public enum Measure {
    /** How long one takes. */
    LATENCY("lat"),
    /** How much goes through. */
    BANDWIDTH("bw");

    private final String word;

    Measure(String word) {
        this.word = word;
    }

    /** In the names of the tools. */
    String word() {
        return word;
    }
}

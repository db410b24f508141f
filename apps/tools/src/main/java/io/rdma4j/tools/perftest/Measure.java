package io.rdma4j.tools.perftest;

/** The quantity that a tool measures of an operation. */
public enum Measure {
    /** The duration of an operation. */
    LATENCY("lat"),
    /** The throughput. */
    BANDWIDTH("bw");

    private final String word;

    Measure(String word) {
        this.word = word;
    }

    /** Returns the abbreviation in the names of the tools. */
    String word() {
        return word;
    }
}

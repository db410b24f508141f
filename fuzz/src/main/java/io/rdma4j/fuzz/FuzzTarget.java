package io.rdma4j.fuzz;

import java.util.stream.Stream;

/** Code that is run with arbitrary bytes. Deterministic: the same input has the same effect. */
public interface FuzzTarget {
    /**
     * Interprets an input and checks the laws.
     *
     * @param input any bytes
     * @throws AssertionError if a law is violated; any other throwable is a finding, too
     */
    void run(byte[] input);

    /** Returns initial inputs, which mutations extend. */
    Stream<byte[]> seeds();
}

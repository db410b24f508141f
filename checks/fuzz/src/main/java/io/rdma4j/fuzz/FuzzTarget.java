package io.rdma4j.fuzz;

import java.util.stream.Stream;

/** Code that is run with arbitrary bytes. Deterministic: the same input has the same effect. */
public interface FuzzTarget {
    /**
     * Interprets an input and checks the invariants.
     *
     * @param input any bytes
     * @throws AssertionError if an invariant is violated; any other throwable is also treated as a failure
     */
    void run(byte[] input);

    /** Returns initial inputs, which mutations extend. */
    Stream<byte[]> seeds();
}

package io.rdma4j.fuzz;

import java.util.stream.Stream;

/** One thing that is given any bytes. Deterministic: the same input does the same. */
public interface FuzzTarget {
    /**
     * Does what an input says, and checks what must hold.
     *
     * @param input any bytes
     * @throws AssertionError if something does not hold; any other throwable is a finding too
     */
    void run(byte[] input);

    /** Inputs to begin with: mutations of these reach deep. */
    Stream<byte[]> seeds();
}

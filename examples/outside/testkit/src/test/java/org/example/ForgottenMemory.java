package org.example;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.rdma4j.testkit.ConnectedPair;
import io.rdma4j.testkit.junit.RdmaFabric;
import io.rdma4j.verbs.MemoryRegion;
import java.lang.foreign.Arena;
import org.junit.jupiter.api.Test;

/** A test that leaves registered memory. The rehearsal of a release checks that it fails. */
@RdmaFabric
class ForgottenMemory {
    @Test
    void aTextIsWritten(ConnectedPair pair) {
        MemoryRegion region = pair.client().verbs().register(Arena.ofAuto().allocateFrom("hello")); // never closed
        pair.client().verbs().write(region, pair.server().remote());
        assertEquals("hello", pair.server().memory().getString(0));
    }
}

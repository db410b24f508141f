package org.example;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.rdma4j.Access;
import io.rdma4j.Exposed;
import io.rdma4j.testkit.ConnectedPair;
import io.rdma4j.testkit.junit.RdmaFabric;
import java.lang.foreign.Arena;
import org.junit.jupiter.api.Test;

/** A test that leaves memory registered. release/rehearse checks that it fails. */
@RdmaFabric
class ForgottenMemory {
    @Test
    void aTextIsRead(ConnectedPair pair) {
        Exposed page = Exposed.of(Arena.ofAuto().allocateFrom("hello"), Access.READ); // never closed
        pair.client().connection().read(pair.client().buffer(), page.at(pair.server().connection()));
        assertEquals("hello", pair.client().memory().getString(0));
    }
}

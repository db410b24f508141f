package io.rdma4j.examples;

import static org.assertj.core.api.Assertions.assertThat;

import io.rdma4j.cm.CmVerbs;
import io.rdma4j.testkit.ConnectedPair;
import io.rdma4j.testkit.junit.RdmaFabric;
import io.rdma4j.verbs.MemoryRegion;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import org.junit.jupiter.api.Test;

// tag::test[]
/** A test of code that does not deregister its memory: it fails, although its assertion holds. */
@RdmaFabric
class ForgottenMemory {
    @Test
    void aTextIsWritten(ConnectedPair pair) {
        writeText(pair, "hello");
        assertThat(pair.server().memory().getString(0)).isEqualTo("hello");
    }

    private static void writeText(ConnectedPair pair, String text) {
        CmVerbs verbs = pair.client().verbs();
        MemorySegment memory = Arena.ofAuto().allocateFrom(text);
        MemoryRegion region = verbs.register(memory); // never closed
        verbs.write(region, pair.server().remote());
    }
}
// end::test[]

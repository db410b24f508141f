package io.rdma4j.examples;

import static org.assertj.core.api.Assertions.assertThat;

import io.rdma4j.Access;
import io.rdma4j.Connection;
import io.rdma4j.Exposed;
import io.rdma4j.testkit.ConnectedPair;
import io.rdma4j.testkit.junit.RdmaFabric;
import io.rdma4j.verbs.RemoteMemory;
import java.lang.foreign.Arena;
import org.junit.jupiter.api.Test;

// tag::test[]
/** A test of code that does not deregister its memory: it fails although its assertion holds. */
@RdmaFabric
class ForgottenMemory {
    @Test
    void aTextIsRead(ConnectedPair pair) {
        RemoteMemory text = publish(pair.server().connection(), "hello");
        pair.client().connection().read(pair.client().buffer(), text);
        assertThat(pair.client().memory().getString(0)).isEqualTo("hello");
    }

    private static RemoteMemory publish(Connection server, String text) {
        Exposed page = Exposed.of(Arena.ofAuto().allocateFrom(text), Access.READ); // never closed
        return page.at(server);
    }
}
// end::test[]

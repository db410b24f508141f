package io.rdma4j.examples;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import io.rdma4j.testkit.ConnectedEnd;
import io.rdma4j.testkit.ConnectedPair;
import io.rdma4j.testkit.TestNetwork;
import io.rdma4j.testkit.VirtualTime;
import io.rdma4j.testkit.junit.FabricTime;
import io.rdma4j.testkit.junit.RdmaFabric;
import io.rdma4j.verbs.RdmaException;
import java.time.Duration;
import org.junit.jupiter.api.Test;

// tag::test[]
/** Timeouts of seconds and of a day, which take milliseconds. */
@RdmaFabric(time = FabricTime.VIRTUAL)
class SilentPeerTest {
    @Test
    void aWriteFailsAfterItsRetries(ConnectedPair pair, TestNetwork network, VirtualTime time) {
        ConnectedEnd client = pair.client();
        network.conditions("loss=100%"); // no packet arrives after this
        assertThatExceptionOfType(RdmaException.class)
                .isThrownBy(() ->
                        client.connection().write(client.buffer(), pair.server().remote()))
                .withMessageContaining("RETRY_EXCEEDED_ERROR");
        assertThat(time.elapsed()).isBetween(Duration.ofSeconds(1), Duration.ofMinutes(1));
    }

    @Test
    void anIdleConnectionIsThereADayLater(ConnectedPair pair, VirtualTime time) {
        time.advance(Duration.ofDays(1));
        pair.client().connection().write(pair.client().buffer(), pair.server().remote());
        assertThat(pair.server().connection().isOpen()).isTrue();
    }
}
// end::test[]

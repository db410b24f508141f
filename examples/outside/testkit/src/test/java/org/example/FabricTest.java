package org.example;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.rdma4j.cm.CmId;
import io.rdma4j.testkit.ConnectedEnd;
import io.rdma4j.testkit.ConnectedPair;
import io.rdma4j.testkit.TestNetwork;
import io.rdma4j.testkit.VirtualTime;
import io.rdma4j.testkit.junit.Connect;
import io.rdma4j.testkit.junit.FabricTime;
import io.rdma4j.testkit.junit.RdmaFabric;
import io.rdma4j.verbs.RdmaException;
import java.time.Duration;
import org.junit.jupiter.api.Test;

/** Tests of a program outside of this project, each with a separate network in memory. */
class FabricTest {
    @Test
    @RdmaFabric(loss = "5%")
    void allBytesArriveWhileOnePacketInTwentyIsLost(@Connect(memoryBytes = 1 << 20) ConnectedPair pair) {
        ConnectedEnd client = pair.client();
        ConnectedEnd server = pair.server();
        client.memory().fill((byte) 42);
        client.connection().write(client.buffer(), server.remote());
        assertEquals(-1, server.memory().mismatch(client.memory()));
    }

    @Test
    @RdmaFabric(time = FabricTime.VIRTUAL)
    void writeToASilentPeerFailsAfterSecondsOfVirtualTime(ConnectedPair pair, TestNetwork network, VirtualTime time) {
        ConnectedEnd client = pair.client();
        network.conditions("loss=100%");
        RdmaException failure = assertThrows(
                RdmaException.class,
                () -> client.connection().write(client.buffer(), pair.server().remote()));
        assertTrue(failure.getMessage().contains("RETRY_EXCEEDED_ERROR"), failure.getMessage());
        assertTrue(
                time.elapsed().compareTo(Duration.ofSeconds(1)) > 0,
                time.elapsed().toString());
    }

    /** release/rehearse sets the property to check whether the tests run on the module path or on the class path. */
    @Test
    void modulesAreNamedOnTheModulePathOnly() {
        String expected = System.getProperty("expected.path", "module path");
        assertEquals(expected, CmId.class.getModule().isNamed() ? "module path" : "class path");
    }
}

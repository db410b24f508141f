package io.rdma4j.soft.cm;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import io.rdma4j.cm.CmEvent;
import io.rdma4j.link.Link;
import io.rdma4j.verbs.Errno;
import io.rdma4j.verbs.RdmaException;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.time.Duration;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The first identifier at an address opens UDP port 4791 there. */
@Timeout(value = 20, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class OpeningPortsTest {
    private final SimulatedNetwork network = new SimulatedNetwork();
    private final SimulatedNetwork.Host host = network.host("10.0.0.1");

    @AfterEach
    void closeStacks() {
        network.close();
    }

    private void bind() {
        host.identifier().id().bind(new InetSocketAddress(host.address, 0));
    }

    @Test
    void portOfAnotherProgramIsRefusedAfterASecondOfVirtualTime() throws IOException {
        try (Link _ = host.bindForAnotherProgram()) {
            long begin = network.nanoTime();
            assertThatExceptionOfType(RdmaException.class)
                    .isThrownBy(this::bind)
                    .satisfies(refusal -> assertThat(refusal.errno()).isEqualTo(Errno.EADDRINUSE));
            assertThat(network.nanoTime() - begin).isBetween(1_000_000_000L, 2_000_000_000L);
        }
        bind();
    }

    private void bindWildcard() {
        host.identifier().id().bind(new InetSocketAddress(InetAddress.ofLiteral("0.0.0.0"), 0));
    }

    /** A program that announces its port between bind and listen must not lose a fast client. */
    @Test
    void wildcardOpensThePortsBeforeItListens() {
        bindWildcard();
        assertThatExceptionOfType(IOException.class).isThrownBy(host::bindForAnotherProgram);
    }

    @Test
    void wildcardIsBoundAlthoughAnotherProgramHasThePort() throws IOException {
        try (Link _ = host.bindForAnotherProgram()) {
            bindWildcard();
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"0.0.0.0", "10.0.0.1"})
    void requestForABoundPortWaitsForItsListener(String address) {
        SimulatedNetwork.Identifier listener = host.identifier();
        listener.id().bind(new InetSocketAddress(InetAddress.ofLiteral(address), Dialogue.PORT));
        SimulatedNetwork.Identifier client = network.host("10.0.0.2").identifier();
        client.id().resolveAddress(null, new InetSocketAddress(host.address, Dialogue.PORT), null, Duration.ZERO);
        client.take(CmEvent.Type.ADDRESS_RESOLVED);
        client.id().resolveRoute(Duration.ZERO);
        client.take(CmEvent.Type.ROUTE_RESOLVED);
        client.id().connect(Dialogue.parameters());
        network.run(Duration.ofMillis(50));
        assertThat(client.events).as("a refusal").isEmpty();
        listener.id().listen(1);
        network.settle();
        SimulatedNetwork.Identifier passive = listener.requests.remove();
        passive.take(CmEvent.Type.CONNECT_REQUEST);
        passive.id().accept(Dialogue.parameters());
        network.settle();
        client.take(CmEvent.Type.CONNECT_RESPONSE);
    }

    @Test
    void cachedInterfacesStayValid() {
        int before = host.interfaces.invalidations;
        bind();
        assertThat(host.interfaces.invalidations).isEqualTo(before);
    }
}

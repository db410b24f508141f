package io.rdma4j.soft.cm;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import io.rdma4j.link.Link;
import io.rdma4j.verbs.Errno;
import io.rdma4j.verbs.RdmaException;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

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

    @Test
    void cachedInterfacesStayValid() {
        int before = host.interfaces.invalidations;
        bind();
        assertThat(host.interfaces.invalidations).isEqualTo(before);
    }
}

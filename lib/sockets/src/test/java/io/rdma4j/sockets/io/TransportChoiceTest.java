package io.rdma4j.sockets.io;

import static org.assertj.core.api.Assertions.assertThat;

import io.rdma4j.sockets.options.AddressRules;
import java.io.IOException;
import java.net.ConnectException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import org.junit.jupiter.api.Test;

/** The choice between RDMA and TCP: by the rules, by earlier results with the peer, and by the program's timeout. */
class TransportChoiceTest {
    private static final InetSocketAddress PEER = new InetSocketAddress(InetAddress.ofLiteral("10.0.0.1"), 80);

    private final IOException refused = new ConnectException("Connection refused");
    private final RefusedPeers refusedPeers = new RefusedPeers(2, 100, () -> 0);

    private TransportChoice choice(String rules) {
        return TransportChoice.of(AddressRules.parse(rules), refusedPeers, PEER);
    }

    @Test
    void rulesChooseTheTransport() {
        assertThat(choice("*=tcp").isTcp()).isTrue();
        assertThat(choice("*=rdma").isTcp()).isFalse();
        assertThat(choice("*=rdma").mayFallBack()).isFalse();
        assertThat(choice("*=either").isTcp()).isFalse();
        assertThat(choice("*=either").mayFallBack()).isTrue();
    }

    @Test
    void peerThatRefusedRdmaIsReachedOverTcpUntilThatFails() {
        choice("*=either").onFallBack(refused, 1_000_000_000L);
        TransportChoice second = choice("*=either");
        assertThat(second.isTcp()).isTrue();
        assertThat(second.mayFallBack()).isFalse();
        assertThat(choice("*=rdma").isTcp()).isFalse();
        assertThat(second.onFailed(refused)).isSameAs(refused);
        assertThat(choice("*=either").isTcp()).isFalse();
    }

    @Test
    void peerThatAcceptsRdmaIsNoLongerRememberedToRefuseIt() {
        choice("*=either").onFallBack(refused, 1_000_000_000L);
        choice("*=rdma").onRdmaEstablished();
        assertThat(choice("*=either").mayFallBack()).isTrue();
    }

    @Test
    void attemptOverRdmaTakesASecondOrHalfOfTheTimeout() {
        assertThat(choice("*=either").rdmaNanos(0)).isEqualTo(1_000_000_000L);
        assertThat(choice("*=either").rdmaNanos(500)).isEqualTo(250_000_000L);
        assertThat(choice("*=either").rdmaNanos(60_000)).isEqualTo(1_000_000_000L);
    }

    /** Without rules the program has requested RDMA by its types, and there is no rule to change. */
    @Test
    void onlyAFailureOfARuleForRdmaIsAdvisedToTryTcp() {
        assertThat(choice("*=rdma").onFailed(refused)).hasMessageContaining("10.0.0.1:80=either");
        assertThat(choice("").onFailed(refused)).isSameAs(refused);
        assertThat(choice("*=either").onFailed(refused)).isSameAs(refused);
    }
}

package io.rdma4j.sockets.io;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.net.ConnectException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.SocketException;
import org.junit.jupiter.api.Test;

/** The table of peers that refused RDMA: bounds, expiry, and the text of advice. */
class RefusedPeersTest {
    private final IOException refused = new ConnectException("Connection refused");

    private long nowNanos;
    private final RefusedPeers peers = new RefusedPeers(2, 100, () -> nowNanos);

    private static InetSocketAddress peer(String host, int port) {
        return new InetSocketAddress(InetAddress.ofLiteral(host), port);
    }

    @Test
    void refusalIsRememberedByAddressAndPortUntilItExpires() {
        peers.onFallBack(peer("10.0.0.1", 80), refused);
        assertThat(peers.contains(peer("10.0.0.1", 80))).isTrue();
        assertThat(peers.contains(peer("10.0.0.1", 81))).isFalse();
        assertThat(peers.contains(peer("10.0.0.2", 80))).isFalse();
        nowNanos = 99;
        assertThat(peers.contains(peer("10.0.0.1", 80))).isTrue();
        nowNanos = 100;
        assertThat(peers.contains(peer("10.0.0.1", 80))).isFalse();
    }

    /** The peer may just have started: a cold JVM does not answer within a tenth of a second. */
    @Test
    void peerThatWasGivenLittleTimeToAnswerIsRememberedBriefly() {
        peers.onFallBack(peer("10.0.0.1", 80), refused, 100_000_000);
        nowNanos = 9;
        assertThat(peers.contains(peer("10.0.0.1", 80))).isTrue();
        nowNanos = 10;
        assertThat(peers.contains(peer("10.0.0.1", 80))).isFalse();
        peers.onFallBack(peer("10.0.0.1", 80), refused, 5_000_000_000L);
        nowNanos = 109;
        assertThat(peers.contains(peer("10.0.0.1", 80))).isTrue();
        nowNanos = 110;
        assertThat(peers.contains(peer("10.0.0.1", 80))).isFalse();
    }

    @Test
    void peerIsForgottenOnRequest() {
        peers.onFallBack(peer("10.0.0.1", 80), refused);
        peers.forget(peer("10.0.0.1", 80));
        assertThat(peers.contains(peer("10.0.0.1", 80))).isFalse();
    }

    @Test
    void fullTableForgetsTheOldestRefusal() {
        peers.onFallBack(peer("10.0.0.1", 80), refused);
        peers.onFallBack(peer("10.0.0.2", 80), refused);
        peers.onFallBack(peer("10.0.0.1", 80), refused);
        peers.onFallBack(peer("10.0.0.3", 80), refused);
        assertThat(peers.contains(peer("10.0.0.1", 80))).isTrue();
        assertThat(peers.contains(peer("10.0.0.2", 80))).isFalse();
        assertThat(peers.contains(peer("10.0.0.3", 80))).isTrue();
        RefusedPeers none = new RefusedPeers(0, 100, () -> nowNanos);
        none.onFallBack(peer("10.0.0.1", 80), refused);
        assertThat(none.contains(peer("10.0.0.1", 80))).isFalse();
    }

    @Test
    void errorOfThisHostIsNotRemembered() {
        peers.onFallBack(peer("10.0.0.1", 80), new SocketException("No such device"));
        assertThat(peers.contains(peer("10.0.0.1", 80))).isFalse();
    }

    @Test
    void adviceHasTheSyntaxOfRules() {
        assertThat(peers.advised(refused, peer("::1", 80)))
                .hasMessage("Connection refused; if [0:0:0:0:0:0:0:1]:80 listens with TCP, the rule"
                        + " [0:0:0:0:0:0:0:1]:80=either before the others of -Drdma4j.sockets.rules reaches it")
                .hasCause(refused);
        IOException other = new SocketException("No such device");
        assertThat(peers.advised(other, peer("::1", 80))).isSameAs(other);
    }

    @Test
    void propertyOutsideItsRangeIsIgnored() {
        assertThat(NumberProperty.parse("p", null, 5, 1, 9)).isEqualTo(5);
        assertThat(NumberProperty.parse("p", " 9 ", 5, 1, 9)).isEqualTo(9);
        assertThat(NumberProperty.parse("p", "10", 5, 1, 9)).isEqualTo(5);
        assertThat(NumberProperty.parse("p", "x", 5, 1, 9)).isEqualTo(5);
    }
}

package io.rdma4j.cm.host;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.net.Inet6Address;
import java.net.InetAddress;
import java.net.UnknownHostException;
import org.junit.jupiter.api.Test;

class RouteCacheTest {
    private static final InetAddress ETHERNET = InetAddress.ofLiteral("192.0.2.1");
    private static final InetAddress OTHER = InetAddress.ofLiteral("198.51.100.1");
    private static final InetAddress PEER = InetAddress.ofLiteral("192.0.2.9");

    private long now = Long.MAX_VALUE;
    private int queries;
    private InetAddress route = ETHERNET;
    private final RouteCache cache = new RouteCache(() -> now);

    private InetAddress find(InetAddress destination) {
        return cache.find(null, destination, () -> {
            queries++;
            return route;
        });
    }

    @Test
    void entryIsValidForATenthOfASecond() {
        assertThat(find(PEER)).isEqualTo(ETHERNET);
        route = OTHER;
        now += RouteCache.FRESH_NANOS - 1;
        assertThat(find(PEER)).isEqualTo(ETHERNET);
        now++;
        assertThat(find(PEER)).isEqualTo(OTHER);
        assertThat(queries).isEqualTo(2);
    }

    @Test
    void entriesDifferBySourceDestinationAndScope() throws UnknownHostException {
        byte[] bytes = InetAddress.ofLiteral("fe80::1").getAddress();
        for (int scope = 1; scope <= 3; scope++) {
            find(Inet6Address.getByAddress(null, bytes, scope));
        }
        find(PEER);
        assertThat(cache.find(OTHER, PEER, () -> OTHER)).isEqualTo(OTHER);
        assertThat(queries).isEqualTo(4);
    }

    @Test
    void lookupAfterClearQueriesAgain() {
        find(PEER);
        cache.clear();
        find(PEER);
        assertThat(queries).isEqualTo(2);
    }

    @Test
    void lookupInProgressDuringAClearIsNotCached() {
        InetAddress old = cache.find(null, PEER, () -> {
            cache.clear();
            return OTHER;
        });
        assertThat(old).isEqualTo(OTHER);
        assertThat(find(PEER)).isEqualTo(ETHERNET);
    }

    @Test
    void missingRouteIsNotCached() {
        IllegalStateException none = new IllegalStateException("no route");
        for (int i = 0; i < 2; i++) {
            assertThatThrownBy(() -> cache.find(null, PEER, () -> {
                        throw none;
                    }))
                    .isSameAs(none);
        }
        assertThat(find(PEER)).isEqualTo(ETHERNET);
    }

    @Test
    void numberOfEntriesIsLimited() throws UnknownHostException {
        for (int i = 0; i < 10 * RouteCache.MAX_ENTRIES; i++) {
            find(InetAddress.getByAddress(new byte[] {10, 0, (byte) (i >> 8), (byte) i}));
        }
        assertThat(cache.size()).isBetween(1, RouteCache.MAX_ENTRIES);
    }
}

package io.rdma4j.wire.cm;

import static org.assertj.core.api.Assertions.assertThat;

import io.rdma4j.value.Gid;
import org.junit.jupiter.api.Test;

/** Matches addresses against the peer's end of a route. */
class CmRouteTest {
    private static final Gid LINK_LOCAL = new Gid(0xfe80L << 48, 1);
    private static final Gid GLOBAL = new Gid(0xfd00L << 48, 1);

    @Test
    void sameLinkLocalAddressOnAnotherLinkIsAnotherHost() {
        CmRoute route = new CmRoute(LINK_LOCAL, LINK_LOCAL, 2);
        assertThat(route.matchesPeer(LINK_LOCAL, 2)).isTrue();
        assertThat(route.matchesPeer(LINK_LOCAL, 3)).isFalse();
    }

    @Test
    void unknownScopeMatchesAnyLink() {
        assertThat(new CmRoute(GLOBAL, LINK_LOCAL, 0).matchesPeer(LINK_LOCAL, 3))
                .isTrue();
        assertThat(new CmRoute(LINK_LOCAL, GLOBAL, 2).matchesPeer(GLOBAL, 0)).isTrue();
        assertThat(new CmRoute(GLOBAL, GLOBAL, 0).matchesPeer(LINK_LOCAL, 0)).isFalse();
    }
}

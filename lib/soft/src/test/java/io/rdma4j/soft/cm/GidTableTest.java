package io.rdma4j.soft.cm;

import static org.assertj.core.api.Assertions.assertThat;

import java.net.InetAddress;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** The order of the addresses of an interface in the GID table of its device, which is the same as in rdma_rxe. */
class GidTableTest {
    private static final String IPV4 = "192.0.2.1";
    private static final String LINK_LOCAL = "fe80::5054:ff:fefe:8802";

    private final SimulatedNetwork network = new SimulatedNetwork();
    private final SimulatedNetwork.Host host = network.host(IPV4);

    @AfterEach
    void close() {
        network.close();
    }

    @Test
    void theLinkLocalAddressIsFirstAndIpv4Second() {
        addAddress("2001:db8::1");
        addAddress("192.0.2.2");
        addAddress(LINK_LOCAL);
        assertThat(indices(LINK_LOCAL, IPV4, "192.0.2.2", "2001:db8::1")).containsExactly(0, 1, 2, 3);
    }

    @Test
    void withoutALinkLocalAddressTheFirstIndexIsEmpty() {
        assertThat(indices(IPV4)).containsExactly(1);
        try (var context = host.device().open()) {
            assertThat(context.gidTable(1))
                    .singleElement()
                    .satisfies(entry -> assertThat(entry.index()).isEqualTo(1));
        }
    }

    @Test
    void aLinkLocalAddressThatComesLaterChangesNoOtherIndex() {
        addAddress("2001:db8::1");
        assertThat(indices(IPV4, "2001:db8::1")).containsExactly(1, 2);
        addAddress(LINK_LOCAL);
        assertThat(host.device().addresses()).first().isEqualTo(InetAddress.ofLiteral(LINK_LOCAL));
        assertThat(indices(LINK_LOCAL, IPV4, "2001:db8::1")).containsExactly(0, 1, 2);
    }

    @Test
    void anotherLinkLocalAddressTakesTheIndexOfARemovedOne() {
        addAddress(LINK_LOCAL);
        addAddress("fe80::2");
        assertThat(indices(LINK_LOCAL, IPV4, "fe80::2")).containsExactly(0, 1, 2);
        host.interfaces.removeAddress(InetAddress.ofLiteral(LINK_LOCAL));
        addAddress("fe80::3");
        assertThat(indices(IPV4, "fe80::2", "fe80::3")).containsExactly(1, 2, 0);
    }

    @Test
    void addressesHaveTheOrderOfTheirAgeAndNotOfTheList() {
        addAddress("2001:db8::9");
        addAddress("2001:db8::1");
        addAddress(LINK_LOCAL);
        for (String address : List.of(IPV4, LINK_LOCAL, "2001:db8::1", "2001:db8::9")) {
            host.interfaces.oldestFirst.add(InetAddress.ofLiteral(address));
        }
        assertThat(indices(LINK_LOCAL, IPV4, "2001:db8::1", "2001:db8::9")).containsExactly(0, 1, 2, 3);
    }

    @Test
    void theIndexOfARemovedAddressStaysEmpty() {
        addAddress("192.0.2.2");
        assertThat(indices(IPV4, "192.0.2.2")).containsExactly(1, 2);
        host.interfaces.removeAddress(InetAddress.ofLiteral("192.0.2.2"));
        addAddress("192.0.2.3");
        assertThat(indices(IPV4, "192.0.2.3")).containsExactly(1, 3);
    }

    private void addAddress(String address) {
        host.interfaces.add("sim0", InetAddress.ofLiteral(address));
    }

    private List<Integer> indices(String... addresses) {
        return Stream.of(addresses)
                .map(each -> host.device().gidIndex(InetAddress.ofLiteral(each)))
                .toList();
    }
}

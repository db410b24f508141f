package io.rdma4j.sockets;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import io.rdma4j.sockets.options.AddressRules;
import io.rdma4j.sockets.options.AddressRules.Transport;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.UnknownHostException;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Tests of the rules that select the transport by host and port. */
class AddressRulesTest {
    private static final AddressRules RULES =
            AddressRules.parse("10.1.2.3=tcp, 10.1.0.0/16=rdma,10.0.0.0/8=either,fd00:1::/33=tcp,*=tcp");

    @ParameterizedTest
    @CsvSource({
        "10.1.2.3, TCP",
        "10.1.2.4, RDMA",
        "10.2.2.3, EITHER",
        "11.1.2.3, TCP",
        "fd00:1:7fff::1, TCP",
        "::1, TCP"
    })
    void firstRuleThatMatchesTheAddressApplies(String address, Transport transport) {
        assertThat(RULES.transportTo(InetAddress.ofLiteral(address))).isEqualTo(transport);
    }

    @Test
    void rdmaIsTheDefault() {
        assertThat(AddressRules.parse("").transportTo(InetAddress.ofLiteral("10.0.0.1")))
                .isEqualTo(Transport.RDMA);
        AddressRules rules = AddressRules.parse("fd00:1::/33=tcp");
        assertThat(rules.transportTo(InetAddress.ofLiteral("fd00:1:7fff::1"))).isEqualTo(Transport.TCP);
        assertThat(rules.transportTo(InetAddress.ofLiteral("fd00:1:8000::1"))).isEqualTo(Transport.RDMA);
        assertThat(rules.transportTo(InetAddress.ofLiteral("10.0.0.1"))).isEqualTo(Transport.RDMA);
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "''|RDMA",
                "*=tcp|TCP",
                "10.0.0.0/8=rdma,*=tcp|EITHER",
                "10.0.0.0/8=tcp,*=tcp|TCP",
                "10.0.0.0/8=tcp|EITHER",
                "*=tcp,10.0.0.0/8=rdma|TCP"
            })
    void wildcardListenerUsesAllTransportsOfTheRules(String rules, Transport transport) {
        assertThat(AddressRules.parse(rules).transportToAll()).isEqualTo(transport);
    }

    private static final AddressRules BY_PORT = AddressRules.parse(
            "[fd00::/8]:9000-9099=rdma,10.0.0.1:22=tcp,*:5432=tcp,db.example.com=tcp,*.Example.org:80=either,fd00::=tcp");

    private static InetSocketAddress address(String host, int port) throws UnknownHostException {
        String[] parts = host.split("=", 2);
        InetAddress literal = InetAddress.ofLiteral(parts[parts.length - 1]);
        return new InetSocketAddress(
                parts.length == 1 ? literal : InetAddress.getByAddress(parts[0], literal.getAddress()), port);
    }

    @ParameterizedTest
    @CsvSource({
        "fd00::1, 9000, RDMA",
        "fd00::1, 9099, RDMA",
        "fd00::, 9100, TCP",
        "10.0.0.1, 22, TCP",
        "10.0.0.1, 23, RDMA",
        "10.0.0.2, 5432, TCP",
        "db.example.com=10.0.0.2, 1, TCP",
        "DB.example.com.=10.0.0.2, 1, TCP",
        "db2.example.com=10.0.0.2, 1, RDMA",
        "www.example.org=10.0.0.2, 80, EITHER",
        "a.b.example.org=10.0.0.2, 80, EITHER",
        "example.org=10.0.0.2, 80, RDMA",
        "www.example.org=10.0.0.2, 81, RDMA"
    })
    void ruleAppliesToItsPortsAndNames(String host, int port, Transport transport) throws UnknownHostException {
        assertThat(BY_PORT.transportTo(address(host, port))).isEqualTo(transport);
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "*:5432=tcp,*=rdma|0.0.0.0|5432|TCP",
                "*:5432=tcp,*=rdma|0.0.0.0|80|RDMA",
                "*:5432=tcp,*=rdma|10.0.0.1|0|EITHER",
                "*:5432=rdma,*=rdma|10.0.0.1|0|RDMA",
                "*:5432=tcp|10.0.0.1|80|RDMA",
                "10.0.0.1:80=tcp,*=rdma|10.0.0.2|80|RDMA",
                "10.0.0.1:80=tcp,*=rdma|::|80|EITHER",
                "db.example.com=tcp,*=rdma|10.0.0.1|80|EITHER",
                "db.example.com=tcp,*=rdma|db.example.com=10.0.0.1|80|TCP",
                "db.example.com:80=tcp,*=rdma|10.0.0.1|81|RDMA"
            })
    void listenerUsesAllTransportsThatItsClientsMayUse(String rules, String host, int port, Transport transport)
            throws UnknownHostException {
        assertThat(AddressRules.parse(rules).transportAt(address(host, port))).isEqualTo(transport);
    }

    @Test
    void addressWithoutPortHasTheTransportOfAllPorts() {
        InetAddress host = InetAddress.ofLiteral("10.0.0.1");
        assertThat(AddressRules.parse("*:5432=tcp,*=rdma").transportTo(host)).isEqualTo(Transport.EITHER);
        assertThat(AddressRules.parse("*:5432=tcp,*=tcp").transportTo(host)).isEqualTo(Transport.TCP);
        assertThat(AddressRules.parse("*:5432=tcp,*=rdma").transportToAll()).isEqualTo(Transport.EITHER);
    }

    @Test
    void rulesOfTheJvmReachAllOtherAddressesOverEither() {
        String before = System.getProperty(AddressRules.PROPERTY);
        try {
            System.setProperty(AddressRules.PROPERTY, "*:22=tcp");
            InetAddress host = InetAddress.ofLiteral("10.0.0.1");
            assertThat(AddressRules.ofJvm().transportTo(new InetSocketAddress(host, 22)))
                    .isEqualTo(Transport.TCP);
            assertThat(AddressRules.ofJvm().transportTo(new InetSocketAddress(host, 23)))
                    .isEqualTo(Transport.EITHER);
            System.clearProperty(AddressRules.PROPERTY);
            assertThat(AddressRules.ofJvm()).isEqualTo(AddressRules.EITHER);
        } finally {
            if (before != null) {
                System.setProperty(AddressRules.PROPERTY, before);
            }
        }
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            quoteCharacter = '"',
            value = {
                "10.0.0.0/33=tcp|'33' is not a prefix length of 10.0.0.0; allowed: 0 to 32",
                "fd00::/129=tcp|'129' is not a prefix length of fd00:0:0:0:0:0:0:0; allowed: 0 to 128",
                "10.0.0.0/x=tcp|'x' is not a prefix length of 10.0.0.0; allowed: 0 to 32",
                "10.0.0.0/8|'=' is missing; allowed: HOSTS=TRANSPORT or HOSTS:PORTS=TRANSPORT",
                "10.0.0.0/8=udp|'udp' is not a transport; allowed: rdma, tcp and either",
                "10.0.0.0/8:=tcp|'' is not a port; allowed: a port of 1 to 65535, or a range, as in 9000-9099",
                "*:0=tcp|'0' is not a port; allowed: a port of 1 to 65535, or a range, as in 9000-9099",
                "*:65536=tcp|'65536' is not a port; allowed: a port of 1 to 65535, or a range, as in 9000-9099",
                "*:9-x=tcp|'9-x' is not a port; allowed: a port of 1 to 65535, or a range, as in 9000-9099",
                "*:10-9=tcp|'10-9' is not a range of ports; allowed: a range with the lower port first",
                "=tcp|'' is neither an address nor a host name; allowed: *, an address, a network",
                "1.2.3.4.5=tcp|'1.2.3.4.5' is neither an address nor a host name; allowed: *, an address, a network",
                "10.*=tcp|'10.*' is neither an address nor a host name; allowed: *, an address, a network",
                "a..b=tcp|'a..b' is neither an address nor a host name; allowed: *, an address, a network",
                "[fd00::/8=tcp|']' is missing in '[fd00::/8'; allowed: an IPv6 network in brackets",
                "[fd00::]/8=tcp|'/8' after the brackets; allowed: a colon and ports, as in [fd00::/8]:9000"
            })
    void malformedRuleIsRefusedWithItsWrongPart(String rule, String message) {
        assertThatIllegalArgumentException()
                .isThrownBy(() -> AddressRules.parse("*:1=tcp," + rule))
                .withMessageStartingWith("Rule '" + rule + "' of RDMA sockets: " + message);
    }
}

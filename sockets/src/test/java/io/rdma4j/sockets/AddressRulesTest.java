package io.rdma4j.sockets;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import io.rdma4j.sockets.options.AddressRules;
import io.rdma4j.sockets.options.AddressRules.Transport;
import java.net.InetAddress;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Laws of the rules that choose the transport by network. */
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
    void firstRuleThatContainsTheAddressApplies(String address, Transport transport) {
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

    @ParameterizedTest
    @ValueSource(
            strings = {
                "10.0.0.0/33=tcp",
                "10.0.0.0/8",
                "10.0.0.0/8=udp",
                "host.example=tcp",
                "10.0.0.0/x=tcp",
                "=tcp",
                "1.2.3.4.5=tcp"
            })
    void malformedRuleIsRejected(String rules) {
        assertThatIllegalArgumentException().isThrownBy(() -> AddressRules.parse(rules));
    }
}

package io.rdma4j.cm;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.rdma4j.cm.host.AddressText;
import io.rdma4j.value.PortSpace;
import io.rdma4j.value.RejectReason;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import org.junit.jupiter.api.Test;

class ConnectionParametersTest {
    @Test
    void privateDataAreCopiedInAndOut() {
        byte[] data = {1, 2, 3};
        ConnectionParameters parameters = ConnectionParameters.defaults().withPrivateData(data);
        data[0] = 9;
        parameters.privateData()[1] = 9;
        assertThat(parameters.privateData()).containsExactly(1, 2, 3);
        assertThat(parameters).isEqualTo(ConnectionParameters.defaults().withPrivateData(new byte[] {1, 2, 3}));
    }

    @Test
    void defaultsMatchNullParametersInC() {
        ConnectionParameters defaults = ConnectionParameters.defaults();
        assertThat(defaults.responderResources()).isEqualTo(0xff);
        assertThat(defaults.initiatorDepth()).isEqualTo(0xff);
        assertThat(defaults.retryCount()).isEqualTo(7);
        assertThat(defaults.rnrRetryCount()).isEqualTo(7);
        assertThat(defaults.flowControl()).isFalse();
        assertThat(defaults.privateDataLength()).isZero();
    }

    @Test
    void numbersOutOfRangeAreRefused() {
        assertThatThrownBy(() -> ConnectionParameters.defaults().withDepths(256, 0))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessage("responder resources is 256, must be 0 to 255");
        assertThatThrownBy(() -> ConnectionParameters.defaults().withQueuePairNumber(1 << 24))
                .isInstanceOf(IllegalArgumentException.class);
    }

    @Test
    void eventsHaveTheNumbersAndNamesOfC() {
        assertThat(CmEvent.Type.ADDRESS_RESOLVED.code()).isZero();
        assertThat(CmEvent.Type.ESTABLISHED.code()).isEqualTo(9);
        assertThat(CmEvent.Type.TIMEWAIT_EXIT.code()).isEqualTo(15);
        assertThat(CmEvent.Type.ADDRESS_CHANGE.text()).isEqualTo("RDMA_CM_EVENT_ADDR_CHANGE");
        assertThat(CmEvent.Type.UNREACHABLE.text()).isEqualTo("RDMA_CM_EVENT_UNREACHABLE");
    }

    @Test
    void reasonsAreDescribedEvenIfUnknown() {
        assertThat(RejectReason.text(8)).isEqualTo("invalid service ID (8)");
        assertThat(RejectReason.text(28)).isEqualTo("consumer defined (28)");
        assertThat(RejectReason.text(26)).isEqualTo("invalid path MTU (26)");
        assertThat(RejectReason.text(999)).isEqualTo("reason 999");
    }

    @Test
    void serviceIdsMatchLinux() {
        assertThat(PortSpace.TCP.serviceId(0x1c06)).isEqualTo(0x0106_1c06L);
    }

    @Test
    void addressesAreFormattedInTheirShortForm() {
        assertThat(AddressText.of(InetAddress.ofLiteral("10.0.0.1"))).isEqualTo("10.0.0.1");
        assertThat(AddressText.of(InetAddress.ofLiteral("::"))).isEqualTo("::");
        assertThat(AddressText.of(InetAddress.ofLiteral("::1"))).isEqualTo("::1");
        assertThat(AddressText.of(InetAddress.ofLiteral("fd00:0:0:1::5"))).isEqualTo("fd00:0:0:1::5");
        assertThat(AddressText.of(InetAddress.ofLiteral("2001:db8:1:0:2:3:4:5")))
                .isEqualTo("2001:db8:1:0:2:3:4:5");
        assertThat(AddressText.of(new InetSocketAddress(InetAddress.ofLiteral("fe80::1"), 7)))
                .isEqualTo("[fe80::1]:7");
        assertThat(AddressText.of(InetSocketAddress.createUnresolved("nowhere", 7)))
                .isEqualTo("nowhere:7");
    }
}

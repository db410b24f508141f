package io.rdma4j.soft.cm;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import io.rdma4j.sharing.PortClaims;
import io.rdma4j.sharing.RunDirectory;
import io.rdma4j.soft.host.StackClock;
import io.rdma4j.value.PortSpace;
import io.rdma4j.verbs.Errno;
import io.rdma4j.verbs.RdmaException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.Random;
import org.junit.jupiter.api.Test;

/** The rules of Linux's rdma_cm for sharing ports. */
class PortTableTest {
    private static final String ANY = "0.0.0.0";
    private static final String ANY6 = "::";

    private final PortClaims claims = new PortClaims(RunDirectory.ofVirtualHost("10.0.0.1"));
    private final Random random = new Random(7);
    private final PortTable table = new PortTable(() -> claims, random::nextInt, StackClock.SYSTEM);

    private PortTable.Hold reserve(String address, int port, boolean reuse) {
        boolean ipv4 = !address.contains(":");
        return table.reserve(PortSpace.TCP, new InetSocketAddress(InetAddress.ofLiteral(address), port), reuse, ipv4);
    }

    private Errno refusal(String address, int port, boolean reuse) {
        return catchThrowableOfType(RdmaException.class, () -> reserve(address, port, reuse))
                .errno();
    }

    @Test
    void sameAddressTwiceIsInUse() {
        reserve("10.0.0.1", 5000, false);
        assertThat(refusal("10.0.0.1", 5000, false)).isEqualTo(Errno.EADDRINUSE);
        assertThat(reserve("10.0.0.2", 5000, false).local.getPort()).isEqualTo(5000);
    }

    @Test
    void theSameLinkLocalAddressOnTwoLinksIsTwoAddresses() {
        reserve("fe80::1%1", 5000, false);
        assertThat(refusal("fe80::1%1", 5000, false)).isEqualTo(Errno.EADDRINUSE);
        assertThat(reserve("fe80::1%2", 5000, false).local.getPort()).isEqualTo(5000);
    }

    @Test
    void wildcardConflictsWithEveryAddress() {
        reserve(ANY, 5000, false);
        assertThat(refusal("10.0.0.1", 5000, false)).isEqualTo(Errno.EADDRNOTAVAIL);
        reserve("10.0.0.1", 5001, false);
        assertThat(refusal(ANY, 5001, false)).isEqualTo(Errno.EADDRNOTAVAIL);
        assertThat(refusal(ANY6, 5001, false)).isEqualTo(Errno.EADDRNOTAVAIL);
    }

    @Test
    void claimsOfOneFamilyOnlyDoNotConflict() {
        reserve(ANY, 5000, false);
        PortTable.Hold six =
                table.reserve(PortSpace.TCP, new InetSocketAddress(InetAddress.ofLiteral(ANY6), 5000), false, true);
        assertThat(six.local.getPort()).isEqualTo(5000);
    }

    @Test
    void reuseSharesAPortUntilItIsListening() {
        PortTable.Hold first = reserve("10.0.0.1", 5000, true);
        PortTable.Hold second = reserve("10.0.0.1", 5000, true);
        assertThat(refusal("10.0.0.1", 5000, false)).isEqualTo(Errno.EADDRINUSE);
        RdmaException refused = catchThrowableOfType(RdmaException.class, () -> table.listen(first));
        assertThat(refused)
                .hasMessage("rdma_listen: Address already in use (EADDRINUSE): RDMA port 10.0.0.1:5000 is taken by an"
                        + " identifier of this process at 10.0.0.1:5000. Use another port, or"
                        + " setReuseAddress(true) on both before binding");
        table.release(second);
        table.listen(first);
        assertThat(refusal("10.0.0.1", 5000, true)).isEqualTo(Errno.EADDRINUSE);
    }

    @Test
    void aReleasedPortIsFree() {
        table.release(reserve("10.0.0.1", 5000, false));
        assertThat(reserve("10.0.0.1", 5000, false).local.getPort()).isEqualTo(5000);
    }

    @Test
    void portZeroIsAnotherFreePortEachTime() {
        int first = reserve("10.0.0.1", 0, false).local.getPort();
        int second = reserve("10.0.0.1", 0, false).local.getPort();
        assertThat(first).isBetween(1024, 65535).isNotEqualTo(second);
        assertThat(second).isBetween(1024, 65535);
    }

    @Test
    void allPortsTakenIsNotAvailable() {
        RdmaException refused = catchThrowableOfType(RdmaException.class, () -> {
            for (int i = 0; i < 65536; i++) {
                reserve("10.0.0.1", 0, false);
            }
        });
        assertThat(refused.errno()).isEqualTo(Errno.EADDRNOTAVAIL);
        assertThat(refused).hasMessageContaining("are taken. Close identifiers that are not needed");
    }
}

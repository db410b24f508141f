package io.rdma4j.soft;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.rdma4j.fixture.TestEndpoint;
import io.rdma4j.soft.host.RunDirectories;
import io.rdma4j.value.Gid;
import io.rdma4j.value.PathMtu;
import io.rdma4j.verbs.Device;
import io.rdma4j.verbs.Errno;
import io.rdma4j.verbs.GidEntry;
import io.rdma4j.verbs.PortState;
import io.rdma4j.verbs.RdmaException;
import java.io.IOException;
import java.net.DatagramSocket;
import java.net.Inet6Address;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.NetworkInterface;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.List;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Devices, their addresses and ports. */
@Timeout(30)
class PortTest {
    @Test
    void everyLoopbackAddressBelongsToTheLoopbackDevice() {
        InetAddress address = TestAddresses.loopback();
        Device device = Device.of(address).orElseThrow();
        assertThat(device.name()).isEqualTo("rdma4j_lo");
        try (var context = device.open()) {
            assertThat(context.gids(1)).contains(Gid.of(address)).doesNotHaveDuplicates();
            assertThat(context.port(1).activeMtu()).isEqualTo(PathMtu.MTU_4096);
        }
    }

    @Test
    void tablesOfThePortCanBeQueriedByIndex() {
        InetAddress address = TestAddresses.loopback();
        Device device = Device.of(address).orElseThrow();
        try (var context = device.open()) {
            int index = context.gids(1).indexOf(Gid.of(address));
            assertThat(context.gid(1, index)).isEqualTo(Gid.of(address));
            assertThat(context.gid(1, 1023)).isEqualTo(Gid.ZERO);
            assertThat(context.gidTable(1))
                    .contains(new GidEntry(Gid.of(address), index, 1, GidEntry.Type.ROCE_V2, 1))
                    .noneMatch(entry -> entry.gid().equals(Gid.ZERO));
            assertThat(context.partitionKey(1, 0)).isEqualTo(0xffff);
            assertThat(context.partitionKeyIndex(1, 0xffff)).isZero();
            assertThat(context.partitionKeyIndex(1, 0x8001)).isEqualTo(-1);
            assertThat(context.port(1).state()).isEqualTo(PortState.ACTIVE);
            List<ThrowingCallable> refused =
                    List.of(() -> context.gid(1, 1024), () -> context.gid(2, 0), () -> context.partitionKey(1, 1));
            for (ThrowingCallable call : refused) {
                assertThatThrownBy(call)
                        .isInstanceOfSatisfying(
                                RdmaException.class, e -> assertThat(e.errno()).isEqualTo(Errno.EINVAL));
            }
        }
    }

    @Test
    void foreignAddressHasNoDevice() {
        assertThat(Device.of(InetAddress.ofLiteral("192.0.2.1"))).isEmpty();
        assertThat(Device.of(InetAddress.ofLiteral("0.0.0.0"))).isEmpty();
    }

    @Test
    void gidIndexIsNeverReusedForAnotherAddress() {
        InetAddress first = TestAddresses.loopback();
        InetAddress second = TestAddresses.loopback();
        Device device = Device.of(first).orElseThrow();
        try (var context = device.open()) {
            int index = context.gids(1).indexOf(Gid.of(first));
            assertThat(Device.of(second)).contains(device);
            assertThat(context.gids(1).indexOf(Gid.of(first))).isEqualTo(index);
        }
    }

    @Test
    void ipv6LoopbackCarriesTraffic() throws IOException {
        InetAddress address = InetAddress.ofLiteral("::1");
        Assumptions.assumeTrue(NetworkInterface.getByInetAddress(address) != null, "no IPv6 here");
        exchange(address);
    }

    @Test
    void allFormsOfAnAddressAreOnePort() throws IOException {
        InetAddress plain = InetAddress.ofLiteral("::1");
        NetworkInterface network = NetworkInterface.getByInetAddress(plain);
        Assumptions.assumeTrue(network != null, "no IPv6 here");
        InetAddress scoped = Inet6Address.getByAddress(null, plain.getAddress(), network);
        try (TestEndpoint a = new TestEndpoint(plain);
                TestEndpoint b = new TestEndpoint(scoped)) {
            assertThat(a.gidIndex()).isEqualTo(b.gidIndex());
            TestEndpoint.connect(a, b);
            a.queuePair.postWrite(1, a.region, 0, 8, b.region.remote());
            assertThat(a.completion().isSuccess()).isTrue();
        }
    }

    @Test
    void linkLocalAddressCarriesTraffic() throws IOException {
        for (NetworkInterface network : NetworkInterface.networkInterfaces().toList()) {
            for (InetAddress address : network.inetAddresses().toList()) {
                if (address instanceof Inet6Address && address.isLinkLocalAddress() && network.isUp()) {
                    exchange(address);
                    return;
                }
            }
        }
        Assumptions.abort("no link-local address here");
    }

    private static void exchange(InetAddress address) {
        try (TestEndpoint a = new TestEndpoint(address);
                TestEndpoint b = new TestEndpoint(address)) {
            TestEndpoint.connect(a, b);
            a.queuePair.postWrite(1, a.region, 0, 3000, b.region.remote());
            assertThat(a.completion().isSuccess()).isTrue();
        }
    }

    @Test
    void portHeldByAnotherSocketIsExplained() throws IOException {
        InetAddress address = TestAddresses.loopback();
        try (DatagramSocket holder = new DatagramSocket(new InetSocketAddress(address, 4791));
                TestEndpoint a = new TestEndpoint(address)) {
            assertThat(holder.isBound()).isTrue();
            assertThatThrownBy(() -> a.connect(address, 100, 0)).isInstanceOfSatisfying(RdmaException.class, e -> {
                assertThat(e.errno()).isEqualTo(Errno.EADDRINUSE);
                assertThat(e)
                        .hasMessageContaining("UDP port 4791 of " + address.getHostAddress())
                        .hasMessageContaining("rmmod rdma_rxe");
            });
        }
    }

    @Test
    void runDirectoryThatOthersMayEnterIsRefused(@TempDir Path directory) throws IOException {
        Path open = Files.createDirectory(directory.resolve("open"));
        Files.setPosixFilePermissions(open, PosixFilePermissions.fromString("rwxr-xr-x"));
        Path link = Files.createSymbolicLink(directory.resolve("link"), open);
        for (Path path : List.of(open, link)) {
            assertThatThrownBy(() -> RunDirectories.at(path))
                    .isInstanceOfSatisfying(
                            RdmaException.class, e -> assertThat(e.errno()).isEqualTo(Errno.EACCES));
        }
    }

    @Test
    void runDirectoryIsCreatedForItsOwnerOnly(@TempDir Path directory) throws IOException {
        Path path = RunDirectories.at(directory.resolve("one").resolve("two")).path();
        assertThat(PosixFilePermissions.toString(Files.getPosixFilePermissions(path)))
                .isEqualTo("rwx------");
    }
}

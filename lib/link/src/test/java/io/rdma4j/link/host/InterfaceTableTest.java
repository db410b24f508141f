package io.rdma4j.link.host;

import static org.assertj.core.api.Assertions.assertThat;

import java.net.Inet6Address;
import java.net.InetAddress;
import java.net.SocketException;
import java.net.UnknownHostException;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

class InterfaceTableTest {
    private static final InetAddress ETHERNET = InetAddress.ofLiteral("192.0.2.1");
    private static final InetAddress OTHER = InetAddress.ofLiteral("192.0.2.2");

    private record FakeInterface(String name, int index, List<InetAddress> addresses, boolean isLoopback, int mtuBytes)
            implements InterfaceView.Source {
        @Override
        public boolean isUp() {
            return mtuBytes > 0;
        }

        @Override
        public byte @Nullable [] hardwareAddress() {
            return null;
        }
    }

    private final List<FakeInterface> present = new ArrayList<>();
    private long now = Long.MAX_VALUE - InterfaceTable.FRESH_NANOS;
    private int refreshes;
    private final InterfaceTable table = new InterfaceTable(
            () -> {
                refreshes++;
                now++;
                return present.stream().map(InterfaceView::new).toList();
            },
            () -> now);

    @BeforeEach
    void twoInterfaces() {
        present.add(new FakeInterface("lo", 1, List.of(InetAddress.ofLiteral("127.0.0.1")), true, 65_536));
        present.add(new FakeInterface("eth0", 2, List.of(ETHERNET), false, 1500));
    }

    private InterfaceView found(InetAddress address) throws SocketException {
        return Objects.requireNonNull(table.find(address));
    }

    @Test
    void cachedInterfaceIsFoundWithoutARefresh() throws SocketException {
        assertThat(found(ETHERNET).name()).isEqualTo("eth0");
        for (int i = 0; i < 100; i++) {
            assertThat(found(ETHERNET).index()).isEqualTo(2);
            assertThat(table.named("lo")).isSameAs(table.find(InetAddress.ofLiteral("127.0.0.1")));
        }
        assertThat(refreshes).isEqualTo(1);
    }

    @Test
    void newAddressIsFoundAtOnce() throws SocketException {
        assertThat(table.find(OTHER)).isNull();
        present.add(new FakeInterface("eth1", 3, List.of(OTHER), false, 9000));
        assertThat(found(OTHER).mtuBytes()).isEqualTo(9000);
        assertThat(table.named("eth1")).isNotNull();
    }

    @Test
    void missingAddressRefreshesOnEveryLookup() throws SocketException {
        for (int i = 1; i <= 3; i++) {
            assertThat(table.find(OTHER)).isNull();
            assertThat(refreshes).isEqualTo(i);
            now++;
        }
    }

    @Test
    void removedInterfaceIsNotFoundInAStaleSnapshot() throws SocketException {
        found(ETHERNET);
        present.removeLast();
        now += InterfaceTable.FRESH_NANOS;
        assertThat(table.find(ETHERNET)).isNull();
        assertThat(table.named("eth0")).isNull();
    }

    @Test
    void changedMtuIsSeenAfterASnapshotExpires() throws SocketException {
        assertThat(found(ETHERNET).mtuBytes()).isEqualTo(1500);
        present.removeLast();
        present.add(new FakeInterface("eth0", 2, List.of(ETHERNET), false, 9000));
        assertThat(found(ETHERNET).mtuBytes()).isEqualTo(1500);
        now += InterfaceTable.FRESH_NANOS;
        assertThat(found(ETHERNET).mtuBytes()).isEqualTo(9000);
    }

    @Test
    void lookupAfterInvalidationRefreshes() throws SocketException {
        found(ETHERNET);
        present.removeLast();
        table.invalidate();
        assertThat(table.find(ETHERNET)).isNull();
    }

    @Test
    void interfaceCountsAsUpOnlyIfItHasAnAddress() throws SocketException {
        present.clear();
        assertThat(table.isAnyUp()).isFalse();
        present.add(new FakeInterface("down", 3, List.of(ETHERNET), false, 0));
        present.add(new FakeInterface("bare", 4, List.of(), false, 1500));
        now += InterfaceTable.FRESH_NANOS;
        assertThat(table.isAnyUp()).isFalse();
        present.add(new FakeInterface("up", 5, List.of(OTHER), false, 1500));
        assertThat(table.isAnyUp()).isTrue();
        refreshes = 0;
        assertThat(table.isAnyUp()).isTrue();
        assertThat(refreshes).isZero();
    }

    @Test
    void allOf127BelongsToTheLoopbackInterface() throws SocketException {
        assertThat(found(InetAddress.ofLiteral("127.71.0.2")).name()).isEqualTo("lo");
        assertThat(found(InetAddress.ofLiteral("127.71.0.3")).name()).isEqualTo("lo");
        assertThat(refreshes).isEqualTo(1);
    }

    @Test
    void linkLocalAddressIsFoundByItsScope() throws SocketException {
        byte[] bytes = {(byte) 0xfe, (byte) 0x80, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1};
        try {
            InetAddress first = Inet6Address.getByAddress(null, bytes, 4);
            InetAddress second = Inet6Address.getByAddress(null, bytes, 5);
            present.add(new FakeInterface("vlan4", 4, List.of(first), false, 1500));
            present.add(new FakeInterface("vlan5", 5, List.of(second), false, 1500));
            assertThat(found(first).name()).isEqualTo("vlan4");
            assertThat(found(second).name()).isEqualTo("vlan5");
            assertThat(found(InetAddress.getByAddress(bytes)).name()).isEqualTo("vlan4");
            assertThat(table.find(Inet6Address.getByAddress(null, bytes, 6))).isNull();
        } catch (UnknownHostException impossible) {
            throw new AssertionError(impossible);
        }
    }
}

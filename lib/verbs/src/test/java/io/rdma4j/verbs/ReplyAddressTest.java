package io.rdma4j.verbs;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.rdma4j.value.CompletionStatus;
import io.rdma4j.value.Gid;
import io.rdma4j.verbs.spi.CompletionWriter;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.reflect.InvocationHandler;
import java.lang.reflect.Proxy;
import java.net.InetAddress;
import java.nio.ByteOrder;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Tests replies on a network card with two entries for each address: for RoCE v1 and for RoCE v2. */
class ReplyAddressTest {
    private static final ValueLayout.OfInt INT = ValueLayout.JAVA_INT.withOrder(ByteOrder.BIG_ENDIAN);
    private static final ValueLayout.OfLong LONG = ValueLayout.JAVA_LONG.withOrder(ByteOrder.BIG_ENDIAN);
    private static final int RECEIVED_BYTES = 64;
    private static final byte UDP = 17;
    private static final byte INFINIBAND = 0x1b;
    private static final Gid IPV4 = Gid.of(InetAddress.ofLiteral("192.0.2.1"));
    private static final Gid IPV6 = Gid.of(InetAddress.ofLiteral("2001:db8::1"));
    private static final Gid PEER_IPV4 = Gid.of(InetAddress.ofLiteral("192.0.2.9"));
    private static final Gid PEER_IPV6 = Gid.of(InetAddress.ofLiteral("2001:db8::9"));
    private static final List<GidEntry> TABLE = List.of(
            new GidEntry(IPV6, 0, 1, GidEntry.Type.ROCE_V1, 2),
            new GidEntry(IPV6, 1, 1, GidEntry.Type.ROCE_V2, 2),
            new GidEntry(IPV4, 2, 1, GidEntry.Type.ROCE_V1, 2),
            new GidEntry(IPV4, 3, 1, GidEntry.Type.ROCE_V2, 2));

    private final MemorySegment received = Arena.ofAuto().allocate(RECEIVED_BYTES);

    /** A device that only implements {@code gidTable}. */
    private static DeviceContext card(List<GidEntry> table) {
        InvocationHandler answers = (proxy, method, arguments) -> switch (method.getName()) {
            case "gidTable" -> table;
            case "device" ->
                Proxy.newProxyInstance(
                        ReplyAddressTest.class.getClassLoader(), new Class<?>[] {Device.class}, (_, _, _) -> "card");
            default -> InvocationHandler.invokeDefault(proxy, method, arguments);
        };
        return (DeviceContext) Proxy.newProxyInstance(
                ReplyAddressTest.class.getClassLoader(), new Class<?>[] {DeviceContext.class}, answers);
    }

    private static WorkCompletion completion() {
        WorkCompletion completion = WorkCompletion.array(1)[0];
        CompletionWriter.start(completion, 1, CompletionStatus.SUCCESS, CompletionOpcode.RECEIVE, 5);
        CompletionWriter.source(completion, 0x1234, true, 0);
        return completion;
    }

    private void receiveOverIpv4(Gid source, Gid target) {
        received.fill((byte) 0);
        received.set(ValueLayout.JAVA_BYTE, 20, (byte) 0x45);
        putIpv4(32, source);
        putIpv4(36, target);
    }

    private void putIpv4(long at, Gid gid) {
        received.set(INT, at, (int) gid.low());
    }

    private void putIpv6(long at, Gid gid) {
        received.set(LONG, at, gid.high());
        received.set(LONG, at + 8, gid.low());
    }

    private void receiveOverIpv6(Gid source, Gid target, byte nextHeader) {
        received.fill((byte) 0);
        received.set(ValueLayout.JAVA_BYTE, 0, (byte) 0x60);
        received.set(ValueLayout.JAVA_BYTE, 6, nextHeader);
        putIpv6(8, source);
        putIpv6(24, target);
    }

    private AddressVector reply() {
        return AddressVector.of(card(TABLE), completion(), received, 1);
    }

    @Test
    void replyToADatagramOfRoceV2OverIpv4UsesTheEntryForRoceV2() {
        receiveOverIpv4(PEER_IPV4, IPV4);
        assertThat(reply().sourceGidIndex()).isEqualTo(3);
        assertThat(reply().destination()).isEqualTo(PEER_IPV4);
    }

    @Test
    void replyToADatagramOfRoceV2OverIpv6UsesTheEntryForRoceV2() {
        receiveOverIpv6(PEER_IPV6, IPV6, UDP);
        assertThat(reply().sourceGidIndex()).isEqualTo(1);
        assertThat(reply().destination()).isEqualTo(PEER_IPV6);
    }

    @Test
    void replyToADatagramOfRoceV1UsesTheEntryForRoceV1() {
        receiveOverIpv6(PEER_IPV4, IPV4, INFINIBAND);
        assertThat(reply().sourceGidIndex()).isEqualTo(2);
    }

    @Test
    void replyToADatagramToAGroupHasNoSource() {
        receiveOverIpv4(PEER_IPV4, Gid.of(InetAddress.ofLiteral("239.1.2.3")));
        assertThatThrownBy(this::reply).isInstanceOf(RdmaException.class).hasMessageContaining("card");
    }

    @Test
    void indexOfAnAddressIsForRoceV2IfTheTableHasIt() {
        assertThat(card(TABLE).gidIndex(1, IPV4)).isEqualTo(3);
        assertThat(card(TABLE.subList(0, 3)).gidIndex(1, IPV4)).isEqualTo(2);
        assertThat(card(TABLE).gidIndex(1, PEER_IPV4)).isEqualTo(-1);
    }
}

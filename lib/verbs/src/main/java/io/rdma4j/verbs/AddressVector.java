package io.rdma4j.verbs;

import io.rdma4j.value.Gid;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;
import java.util.List;

/**
 * The address of a peer and the path to it. C: {@code struct ibv_ah_attr} with its global route.
 *
 * @param sourceGidIndex index of the source GID in the GID table of the port
 * @param destination the peer's GID
 * @param destinationScope interface index if the destination is a link-local address, otherwise 0
 * @param flowLabel 20 bits that spread connections over paths
 * @param hopLimit IP time to live or hop limit
 * @param trafficClass IP type of service or traffic class
 * @param serviceLevel priority, 0 to 15, which network cards map to a priority of Ethernet flow control. Over RoCE, the
 *     connection manager derives it from the traffic class. The software device ignores it
 * @param staticRate rate limit as a value of {@code enum ibv_rate}, 0 for none
 * @param port the device's port, from 1
 */
public record AddressVector(
        int sourceGidIndex,
        Gid destination,
        int destinationScope,
        int flowLabel,
        int hopLimit,
        int trafficClass,
        int serviceLevel,
        int staticRate,
        int port) {
    private static final int IPV6_BYTES = 40;
    private static final int IPV4_BYTES = 20;
    private static final int NEXT_HEADER_AT = 6;
    private static final int UDP = 17;
    private static final int IPV4_AT = IPV6_BYTES - IPV4_BYTES;
    private static final int DEFAULT_HOP_LIMIT = 64;
    private static final int LAST_HOP_LIMIT = 0xff;
    private static final int FLOW_LABEL_MASK = 0xf_ffff;
    private static final int FIRST_SOURCE_PORT = 0xc000;
    private static final int SOURCE_PORT_MASK = 0x3fff;
    private static final ValueLayout.OfInt INT = ValueLayout.JAVA_INT_UNALIGNED.withOrder(ByteOrder.BIG_ENDIAN);
    private static final ValueLayout.OfLong LONG = ValueLayout.JAVA_LONG_UNALIGNED.withOrder(ByteOrder.BIG_ENDIAN);

    /**
     * Returns the path from a GID of port 1 to a destination, with a hop limit of 64. The other values are 0; the
     * methods {@code with…} change them.
     *
     * @param sourceGidIndex index of the source GID in the GID table of the port
     * @param destination the peer's GID
     */
    public static AddressVector of(int sourceGidIndex, Gid destination) {
        return new AddressVector(sourceGidIndex, destination, 0, 0, DEFAULT_HOP_LIMIT, 0, 0, 0, 1);
    }

    /**
     * Returns the UDP source port that devices derive from a flow label other than 0. For 0, devices derive the port
     * from the numbers of both queue pairs. C: {@code ibv_flow_label_to_udp_sport} of libibverbs,
     * {@code rdma_flow_label_to_udp_sport} of the kernel.
     *
     * @param flowLabel flow label; only the lower 20 bits are used
     * @return the port, 49152 to 65535
     */
    public static int udpSourcePort(int flowLabel) {
        int label = flowLabel & FLOW_LABEL_MASK;
        return FIRST_SOURCE_PORT | label & SOURCE_PORT_MASK ^ label >>> Integer.bitCount(SOURCE_PORT_MASK);
    }

    /** Returns this path with the interface index of a link-local destination. */
    public AddressVector withDestinationScope(int value) {
        return new AddressVector(
                sourceGidIndex, destination, value, flowLabel, hopLimit, trafficClass, serviceLevel, staticRate, port);
    }

    /** Returns this path with a flow label of 20 bits. */
    public AddressVector withFlowLabel(int value) {
        return new AddressVector(
                sourceGidIndex,
                destination,
                destinationScope,
                value,
                hopLimit,
                trafficClass,
                serviceLevel,
                staticRate,
                port);
    }

    /** Returns this path with an IP time to live or hop limit, 0 to 255. */
    public AddressVector withHopLimit(int value) {
        return new AddressVector(
                sourceGidIndex,
                destination,
                destinationScope,
                flowLabel,
                value,
                trafficClass,
                serviceLevel,
                staticRate,
                port);
    }

    /** Returns this path with an IP type of service or traffic class, 0 to 255. */
    public AddressVector withTrafficClass(int value) {
        return new AddressVector(
                sourceGidIndex,
                destination,
                destinationScope,
                flowLabel,
                hopLimit,
                value,
                serviceLevel,
                staticRate,
                port);
    }

    /** Returns this path with a service level, 0 to 15. C: {@code ibv_ah_attr.sl}. */
    public AddressVector withServiceLevel(int value) {
        return new AddressVector(
                sourceGidIndex,
                destination,
                destinationScope,
                flowLabel,
                hopLimit,
                trafficClass,
                value,
                staticRate,
                port);
    }

    /** Returns this path with a rate limit. C: {@code ibv_ah_attr.static_rate}. */
    public AddressVector withStaticRate(int value) {
        return new AddressVector(
                sourceGidIndex,
                destination,
                destinationScope,
                flowLabel,
                hopLimit,
                trafficClass,
                serviceLevel,
                value,
                port);
    }

    /** Returns this path from another port of the device, from 1. */
    public AddressVector withPort(int value) {
        return new AddressVector(
                sourceGidIndex,
                destination,
                destinationScope,
                flowLabel,
                hopLimit,
                trafficClass,
                serviceLevel,
                staticRate,
                value);
    }

    /**
     * Returns the address vector for a reply to a datagram. The datagram's source address becomes the destination, and
     * its destination address becomes the source, with the same packet format. A link-local destination is on the
     * network of the port. C: {@code ibv_init_ah_from_wc}.
     *
     * @param context the device that received the datagram
     * @param completion completion of the receive
     * @param received memory of the receive; its first 40 bytes are read
     * @param port the device's port, from 1
     * @throws RdmaException {@code EINVAL} if the completion is not the receive of a datagram; {@code ENODEV} if the
     *     datagram was not sent to an address of the port but, for example, to a multicast group
     */
    public static AddressVector of(DeviceContext context, WorkCompletion completion, MemorySegment received, int port) {
        if (!completion.hasGlobalRoute() || received.byteSize() < IPV6_BYTES) {
            throw new RdmaException(
                    "ibv_init_ah_from_wc",
                    Errno.EINVAL,
                    completion + " with " + received.byteSize() + " bytes is not the receive of a datagram",
                    "Only datagrams start with 40 bytes that contain the sender's address");
        }
        boolean isIpv6 = isIpv6(received);
        Gid target = isIpv6 ? gid(received, 24) : Gid.ofIpv4(received.get(INT, IPV4_AT + 16));
        boolean isUdp = !isIpv6 || received.get(ValueLayout.JAVA_BYTE, NEXT_HEADER_AT) == UDP;
        int index = isUdp ? context.gidIndex(port, target) : indexWithoutUdp(context.gidTable(port), target);
        if (index < 0) {
            throw new RdmaException(
                    "ibv_init_ah_from_wc",
                    Errno.ENODEV,
                    "no GID of " + context.device().name() + " is " + target + ", the destination of the datagram",
                    "To reply to a multicast datagram, choose the GID of a local address: AddressVector.ofSender");
        }
        return ofSender(received, port, index);
    }

    /**
     * Returns the address vector for a reply to a datagram, from a chosen address of this host. The datagram may have
     * been sent to another address, for example to a multicast group.
     *
     * @param received memory of the receive of a datagram; its first 40 bytes are read
     * @param port the device's port, from 1
     * @param sourceGidIndex index of the source GID in the GID table of the port
     * @throws IndexOutOfBoundsException if the memory is shorter than 40 bytes
     */
    public static AddressVector ofSender(MemorySegment received, int port, int sourceGidIndex) {
        int first = received.get(INT, 0);
        boolean isIpv6 = isIpv6(received);
        Gid source = isIpv6 ? gid(received, 8) : Gid.ofIpv4(received.get(INT, IPV4_AT + 12));
        int trafficClass = isIpv6 ? first >>> 20 & 0xff : received.get(INT, IPV4_AT) >>> 16 & 0xff;
        return of(sourceGidIndex, source)
                .withFlowLabel(isIpv6 ? first & FLOW_LABEL_MASK : 0)
                .withHopLimit(LAST_HOP_LIMIT)
                .withTrafficClass(trafficClass)
                .withPort(port);
    }

    private static boolean isIpv6(MemorySegment received) {
        return received.get(INT, 0) >>> 28 == 6;
    }

    /** Returns the index of a GID with the packet format of InfiniBand or RoCE v1, or -1. */
    private static int indexWithoutUdp(List<GidEntry> table, Gid gid) {
        return table.stream()
                .filter(entry ->
                        entry.type() != GidEntry.Type.ROCE_V2 && entry.gid().equals(gid))
                .mapToInt(GidEntry::index)
                .findFirst()
                .orElse(-1);
    }

    private static Gid gid(MemorySegment bytes, int at) {
        return new Gid(bytes.get(LONG, at), bytes.get(LONG, at + 8));
    }
}

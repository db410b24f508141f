package io.rdma4j.wire.cm;

import org.jspecify.annotations.Nullable;

/**
 * Service IDs of rdma_cm: a port space in bits 31:16 and a port number in bits 15:0, the rest zero. Source: InfiniBand
 * Architecture volume 1, annex A11. C counterpart: {@code enum rdma_port_space}.
 */
public final class ServiceId {
    /** Port space of IP over InfiniBand ({@code RDMA_PS_IPOIB}). */
    public static final int PORT_SPACE_IPOIB = 0x0002;

    /** Port space of connections ({@code RDMA_PS_TCP}). */
    public static final int PORT_SPACE_TCP = 0x0106;

    /** Port space of datagrams ({@code RDMA_PS_UDP}). */
    public static final int PORT_SPACE_UDP = 0x0111;

    /** Port space of InfiniBand addresses ({@code RDMA_PS_IB}). */
    public static final int PORT_SPACE_IB = 0x013f;

    private ServiceId() {}

    /** Returns the service ID of a port. The low 16 bits of both arguments are used. */
    public static long of(int portSpace, int port) {
        return (portSpace & 0xffffL) << 16 | port & 0xffff;
    }

    /** Returns the port space of a service ID, bits 31:16. */
    public static int portSpace(long serviceId) {
        return (int) (serviceId >>> 16) & 0xffff;
    }

    /** Returns the port of a service ID, bits 15:0. */
    public static int port(long serviceId) {
        return (int) serviceId & 0xffff;
    }

    /** Returns whether a service ID is one of rdma_cm: it has a known port space, and bits 63:32 are zero. */
    public static boolean isRdmaCm(long serviceId) {
        return prefix(serviceId) != null;
    }

    /** Returns a service ID as text: {@code "tcp:7174"} for one of rdma_cm, else the number in hexadecimal. */
    public static String toString(long serviceId) {
        String prefix = prefix(serviceId);
        return prefix == null ? "0x" + Long.toHexString(serviceId) : prefix + port(serviceId);
    }

    private static @Nullable String prefix(long serviceId) {
        if (serviceId >>> 32 != 0) {
            return null;
        }
        return switch (portSpace(serviceId)) {
            case PORT_SPACE_IPOIB -> "ipoib:";
            case PORT_SPACE_TCP -> "tcp:";
            case PORT_SPACE_UDP -> "udp:";
            case PORT_SPACE_IB -> "ib:";
            default -> null;
        };
    }
}

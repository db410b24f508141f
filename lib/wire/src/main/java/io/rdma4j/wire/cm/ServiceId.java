package io.rdma4j.wire.cm;

import io.rdma4j.value.PortSpace;
import java.util.Locale;
import java.util.Optional;

/**
 * Service IDs of rdma_cm: a port space in bits 31:16 and a port number in bits 15:0, the rest zero. {@link
 * PortSpace#serviceId} returns them. Source: InfiniBand Architecture volume 1, annex A11.
 */
public final class ServiceId {
    private ServiceId() {}

    /** Returns the port space of a service ID of rdma_cm, and nothing for another one. */
    public static Optional<PortSpace> portSpace(long serviceId) {
        return serviceId >>> Integer.SIZE == 0 ? PortSpace.ofCode((int) (serviceId >>> 16)) : Optional.empty();
    }

    /** Returns the port of a service ID, bits 15:0. */
    public static int port(long serviceId) {
        return (int) serviceId & 0xffff;
    }

    /** Returns whether a service ID is one of rdma_cm: it has a known port space, and bits 63:32 are zero. */
    public static boolean isRdmaCm(long serviceId) {
        return portSpace(serviceId).isPresent();
    }

    /** Returns a service ID as text: {@code "tcp:7174"} for one of rdma_cm, otherwise the number in hexadecimal. */
    public static String toString(long serviceId) {
        return portSpace(serviceId)
                .map(space -> space.name().toLowerCase(Locale.ROOT) + ":" + port(serviceId))
                .orElseGet(() -> "0x" + Long.toHexString(serviceId));
    }
}

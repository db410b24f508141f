package io.rdma4j.soft.device;

import io.rdma4j.link.host.InterfaceView;
import io.rdma4j.value.Gid;
import java.net.SocketException;
import java.nio.ByteBuffer;
import java.util.Comparator;
import java.util.Optional;

/**
 * The GUID of a device, on which all processes of a host agree. It equals the GUID of {@code rdma_rxe} on the same network
 * interface.
 *
 * <p>It does not identify a process. {@link ProcessGuid} does.
 */
final class NodeGuid {
    private static final int ETHERNET_BYTES = 6;

    /** The bit of the first byte that is inverted in a 64-bit identifier. */
    private static final int UNIVERSAL = 0x02;

    /** The first byte of an identifier that no manufacturer assigns. */
    private static final long LOCALLY_ADMINISTERED = 0x02L << 56;

    private NodeGuid() {}

    /** Returns the GUID of the device of an interface, by its hardware address, or without one by its name and lowest address. */
    static long of(InterfaceView network) {
        byte[] hardware = hardwareAddress(network);
        if (hardware.length == ETHERNET_BYTES) {
            return ofEthernet(hardware);
        }
        if (hardware.length >= Long.BYTES) {
            // The address of IP over InfiniBand ends with the GUID of the port.
            return ByteBuffer.wrap(hardware).getLong(hardware.length - Long.BYTES);
        }
        return ofName(network);
    }

    /** Returns the hardware address; for a loopback interface the zeros that Linux reports, where Java reports none. */
    private static byte[] hardwareAddress(InterfaceView network) {
        try {
            return network.isLoopback() ? new byte[ETHERNET_BYTES] : network.hardwareAddress();
        } catch (SocketException removed) {
            return new byte[0];
        }
    }

    /** Returns the 64-bit identifier that RFC 4291, appendix A, derives from an Ethernet address. */
    static long ofEthernet(byte[] address) {
        return ByteBuffer.allocate(Long.BYTES)
                .put((byte) (address[0] ^ UNIVERSAL))
                .put(address, 1, 2)
                .put((byte) 0xff)
                .put((byte) 0xfe)
                .put(address, 3, 3)
                .getLong(0);
    }

    private static long ofName(InterfaceView network) {
        long hash = mix(network.name().hashCode());
        Optional<Gid> lowest = network.addresses().stream().map(Gid::of).min(Comparator.comparing(Gid::toString));
        if (lowest.isPresent()) {
            hash = mix(hash ^ mix(lowest.get().high()) ^ lowest.get().low());
        }
        return LOCALLY_ADMINISTERED | hash >>> 8;
    }

    /** Returns a number in which each bit depends on all bits of another: the finalizer of SplitMix64. */
    private static long mix(long value) {
        long mixed = (value ^ value >>> 30) * 0xbf58_476d_1ce4_e5b9L;
        mixed = (mixed ^ mixed >>> 27) * 0x94d0_49bb_1331_11ebL;
        return mixed ^ mixed >>> 31;
    }
}

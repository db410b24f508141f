package io.rdma4j.wire.cm;

import io.rdma4j.value.Gid;
import io.rdma4j.wire.Wire;
import java.lang.foreign.MemorySegment;
import org.jspecify.annotations.Nullable;

/**
 * The header of rdma_cm before the application's private data in REQ and SIDR_REQ, 36 bytes. It holds the IP addresses
 * of the connection and the sender's port. Source: InfiniBand Architecture volume 1, annex A11 (RDMA IP CM service).
 *
 * <p>On the wire an IPv4 address is twelve zero bytes and the address. Here both addresses are in GID form. The header
 * is IPv4 when both addresses are.
 *
 * @param source address of the requesting side
 * @param sourcePort rdma_cm port of the requesting side, 16 bits
 * @param destination requested address
 */
public record IpCmHeader(Gid source, int sourcePort, Gid destination) {
    /** Length of the header in bytes. */
    public static final int LENGTH = 36;

    private static final int VERSION = 0;
    private static final int IP_VERSION = 1;
    private static final int SOURCE_PORT = 2;
    private static final int SOURCE = 4;
    private static final int DESTINATION = 20;

    /**
     * Checks that both addresses are of one family.
     *
     * @throws IllegalArgumentException if one is IPv4 and the other is not
     */
    public IpCmHeader {
        if (source.isIpv4() != destination.isIpv4()) {
            throw new IllegalArgumentException(
                    "addresses of different families: " + source.addressText() + " and " + destination.addressText());
        }
    }

    /** Returns whether the addresses are IPv4. */
    public boolean isIpv4() {
        return destination.isIpv4();
    }

    /**
     * Reads a header from the beginning of private data.
     *
     * <p>The header is invalid if the data are too short, the version is not 0 or the IP version is not 4 or 6. It is also
     * invalid if an IPv4 address is not preceded by twelve zero bytes, or an IPv6 address is IPv4-mapped.
     *
     * @return the header, or null if it is invalid
     */
    public static @Nullable IpCmHeader parse(PrivateData data) {
        return data.length() < LENGTH ? null : parse(data.segment(), 0);
    }

    /**
     * Reads a header, like {@link #parse(PrivateData)}. The segment must hold {@link #LENGTH} bytes at {@code at}.
     *
     * @return the header, or null if it is invalid
     */
    public static @Nullable IpCmHeader parse(MemorySegment s, long at) {
        if (Wire.u8(s, at + VERSION) != 0) {
            return null;
        }
        // The low half of the byte is reserved and not checked, as in Linux.
        int ipVersion = Wire.u8(s, at + IP_VERSION) >>> 4;
        Gid source = address(s, at + SOURCE, ipVersion);
        Gid destination = address(s, at + DESTINATION, ipVersion);
        return source == null || destination == null
                ? null
                : new IpCmHeader(source, Wire.u16(s, at + SOURCE_PORT), destination);
    }

    private static @Nullable Gid address(MemorySegment s, long at, int ipVersion) {
        Gid raw = Wire.gid(s, at);
        return switch (ipVersion) {
            case 4 -> raw.high() == 0 && raw.low() >>> 32 == 0 ? Gid.ofIpv4((int) raw.low()) : null;
            case 6 -> raw.isIpv4() ? null : raw;
            default -> null;
        };
    }

    /** Writes all {@link #LENGTH} bytes of this header. */
    public void emit(MemorySegment s, long at) {
        Wire.u8(s, at + VERSION, 0);
        Wire.u8(s, at + IP_VERSION, isIpv4() ? 0x40 : 0x60);
        Wire.u16(s, at + SOURCE_PORT, sourcePort);
        emit(s, at + SOURCE, source);
        emit(s, at + DESTINATION, destination);
    }

    private static void emit(MemorySegment s, long at, Gid address) {
        Wire.gid(s, at, address.isIpv4() ? new Gid(0, address.ipv4() & 0xffff_ffffL) : address);
    }

    /** Returns the private data of a REQ or SIDR_REQ: this header, followed by the application's data. */
    public PrivateData with(PrivateData user) {
        byte[] bytes = new byte[LENGTH];
        emit(MemorySegment.ofArray(bytes), 0);
        return PrivateData.of(bytes).plus(user);
    }
}

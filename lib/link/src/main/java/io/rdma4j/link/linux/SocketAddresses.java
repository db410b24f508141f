package io.rdma4j.link.linux;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_SHORT;

import io.rdma4j.value.Gid;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;

/**
 * Reads and writes Linux socket addresses in memory: {@code sockaddr_in}, {@code sockaddr_in6}, {@code sockaddr_un}.
 */
final class SocketAddresses {
    static final int IPV4_BYTES = 16;
    static final int IPV6_BYTES = 28;
    private static final int UNIX_BYTES = 110;
    private static final int PATH_OFFSET = 2;

    private static final ValueLayout.OfShort SHORT_BE =
            ValueLayout.JAVA_SHORT_UNALIGNED.withOrder(ByteOrder.BIG_ENDIAN);
    private static final ValueLayout.OfInt INT_BE = ValueLayout.JAVA_INT_UNALIGNED.withOrder(ByteOrder.BIG_ENDIAN);
    private static final ValueLayout.OfLong LONG_BE = ValueLayout.JAVA_LONG_UNALIGNED.withOrder(ByteOrder.BIG_ENDIAN);

    private SocketAddresses() {}

    /** Sets the flow label of the IPv6 address at the start of {@code memory}. */
    static void flowLabel(MemorySegment memory, int label) {
        memory.set(INT_BE, 4, label);
    }

    /** Writes an internet address in GID form to the start of {@code memory}, and returns its length. */
    static int write(MemorySegment memory, long high, long low, int scope, int port) {
        memory.set(SHORT_BE, 2, (short) port);
        if (Gid.isIpv4(high, low)) {
            memory.set(JAVA_SHORT, 0, (short) Posix.AF_INET);
            memory.set(INT_BE, 4, (int) low);
            return IPV4_BYTES;
        }
        memory.set(JAVA_SHORT, 0, (short) Posix.AF_INET6);
        memory.set(INT_BE, 4, 0);
        memory.set(LONG_BE, 8, high);
        memory.set(LONG_BE, 16, low);
        memory.set(JAVA_INT, 24, scope);
        return IPV6_BYTES;
    }

    /** Returns the port of the internet address at {@code offset}. */
    static int port(MemorySegment memory, long offset) {
        return memory.get(SHORT_BE, offset + 2) & 0xffff;
    }

    /** Returns the upper half, in GID form, of the internet address at {@code offset}. */
    static long high(MemorySegment memory, long offset, boolean ipv4) {
        return ipv4 ? 0 : memory.get(LONG_BE, offset + 8);
    }

    /** Returns the lower half, in GID form, of the internet address at {@code offset}. */
    static long low(MemorySegment memory, long offset, boolean ipv4) {
        return ipv4 ? Gid.ipv4Low(memory.get(INT_BE, offset + 4)) : memory.get(LONG_BE, offset + 16);
    }

    /**
     * Returns the address of a Unix-domain socket.
     *
     * @throws IOException if the path is too long for such an address
     */
    static MemorySegment unix(Path path) throws IOException {
        byte[] name = path.toString().getBytes(StandardCharsets.UTF_8);
        if (name.length >= UNIX_BYTES - PATH_OFFSET) {
            throw new IOException("Unix-domain socket " + path + ": the path is too long, " + name.length
                    + " bytes where at most " + (UNIX_BYTES - PATH_OFFSET - 1) + " fit; use a shorter folder");
        }
        MemorySegment memory = Arena.ofAuto().allocate(UNIX_BYTES, 8);
        memory.set(JAVA_SHORT, 0, (short) Posix.AF_UNIX);
        MemorySegment.copy(name, 0, memory, JAVA_BYTE, PATH_OFFSET, name.length);
        return memory;
    }
}

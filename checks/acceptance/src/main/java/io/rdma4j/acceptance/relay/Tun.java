package io.rdma4j.acceptance.relay;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.MethodHandle;
import java.nio.charset.StandardCharsets;

/**
 * A network interface whose other end is this process. Packets that the host sends are read here, and packets written
 * here arrive at the host. They are IP packets without a frame. Reading and writing never block. Used by one thread.
 *
 * <p>It can be moved to another network namespace and renamed. It is removed when this process exits. Linux, {@code
 * tun(4)}.
 */
final class Tun {
    private static final int O_RDWR_NONBLOCK = 2 | 0x800;
    private static final long TUNSETIFF = 0x400454caL;
    /** IFF_TUN, without a protocol header (IFF_NO_PI). */
    private static final short FLAGS = 0x0001 | 0x1000;

    private static final int NAME_BYTES = 16;
    private static final int REQUEST_BYTES = 40;
    private static final short POLLIN = 1;

    private static final MethodHandle OPEN =
            handle("open", FunctionDescriptor.of(ValueLayout.JAVA_INT, ValueLayout.ADDRESS, ValueLayout.JAVA_INT), 2);
    private static final MethodHandle IOCTL = handle(
            "ioctl",
            FunctionDescriptor.of(
                    ValueLayout.JAVA_INT, ValueLayout.JAVA_INT, ValueLayout.JAVA_LONG, ValueLayout.ADDRESS),
            2);
    private static final MethodHandle READ = handle(
            "read",
            FunctionDescriptor.of(
                    ValueLayout.JAVA_LONG, ValueLayout.JAVA_INT, ValueLayout.ADDRESS, ValueLayout.JAVA_LONG),
            -1);
    private static final MethodHandle WRITE = handle(
            "write",
            FunctionDescriptor.of(
                    ValueLayout.JAVA_LONG, ValueLayout.JAVA_INT, ValueLayout.ADDRESS, ValueLayout.JAVA_LONG),
            -1);
    private static final MethodHandle PPOLL = handle(
            "ppoll",
            FunctionDescriptor.of(
                    ValueLayout.JAVA_INT,
                    ValueLayout.ADDRESS,
                    ValueLayout.JAVA_LONG,
                    ValueLayout.ADDRESS,
                    ValueLayout.ADDRESS),
            -1);

    private final int descriptor;

    private Tun(int descriptor) {
        this.descriptor = descriptor;
    }

    @SuppressWarnings("restricted")
    private static MethodHandle handle(String name, FunctionDescriptor signature, int firstVariadic) {
        Linker linker = Linker.nativeLinker();
        MemorySegment function = linker.defaultLookup().findOrThrow(name);
        return firstVariadic < 0
                ? linker.downcallHandle(function, signature)
                : linker.downcallHandle(function, signature, Linker.Option.firstVariadicArg(firstVariadic));
    }

    /**
     * Creates an interface of this name in the network namespace of this process.
     *
     * @throws IOException if /dev/net/tun does not exist, this process lacks permission, or the name is in use
     */
    static Tun create(String name) throws IOException {
        try (Arena arena = Arena.ofConfined()) {
            int descriptor = (int) OPEN.invokeExact(arena.allocateFrom("/dev/net/tun"), O_RDWR_NONBLOCK);
            MemorySegment request = arena.allocate(REQUEST_BYTES, 8);
            byte[] bytes = name.getBytes(StandardCharsets.US_ASCII);
            MemorySegment.copy(bytes, 0, request, ValueLayout.JAVA_BYTE, 0, bytes.length);
            request.set(ValueLayout.JAVA_SHORT, NAME_BYTES, FLAGS);
            if (descriptor < 0 || (int) IOCTL.invokeExact(descriptor, TUNSETIFF, request) < 0) {
                throw new IOException("cannot create interface " + name + " by /dev/net/tun");
            }
            return new Tun(descriptor);
        } catch (IOException e) {
            throw e;
        } catch (Throwable impossible) {
            throw new AssertionError(impossible);
        }
    }

    /** Reads a packet. Returns its length, or less than 1 if none is available. */
    long read(MemorySegment into) {
        try {
            return (long) READ.invokeExact(descriptor, into, into.byteSize());
        } catch (Throwable impossible) {
            throw new AssertionError(impossible);
        }
    }

    /** Writes a packet. Returns whether the host accepted it. */
    boolean write(MemorySegment packet, long lengthBytes) {
        try {
            return (long) WRITE.invokeExact(descriptor, packet, lengthBytes) == lengthBytes;
        } catch (Throwable impossible) {
            throw new AssertionError(impossible);
        }
    }

    /** Waits for packets at any of several interfaces. */
    static final class Poll {
        private static final int POLLFD_BYTES = 8;

        private final MemorySegment descriptors;
        private final MemorySegment limit = Arena.ofAuto().allocate(16, 8);
        private final int count;

        Poll(Tun... interfaces) {
            count = interfaces.length;
            descriptors = Arena.ofAuto().allocate((long) POLLFD_BYTES * count, 8);
            for (int i = 0; i < count; i++) {
                descriptors.set(ValueLayout.JAVA_INT, (long) POLLFD_BYTES * i, interfaces[i].descriptor);
                descriptors.set(ValueLayout.JAVA_SHORT, (long) POLLFD_BYTES * i + 4, POLLIN);
            }
        }

        /** Waits for a packet for at most {@code nanos}. */
        void await(long nanos) {
            limit.set(ValueLayout.JAVA_LONG, 0, nanos / 1_000_000_000);
            limit.set(ValueLayout.JAVA_LONG, 8, nanos % 1_000_000_000);
            try {
                int _ = (int) PPOLL.invokeExact(descriptors, (long) count, limit, MemorySegment.NULL);
            } catch (Throwable impossible) {
                throw new AssertionError(impossible);
            }
        }
    }
}

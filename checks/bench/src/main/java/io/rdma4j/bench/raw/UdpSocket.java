package io.rdma4j.bench.raw;

import static java.lang.foreign.ValueLayout.ADDRESS;
import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;
import static java.lang.foreign.ValueLayout.JAVA_SHORT;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemoryLayout.PathElement;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.StructLayout;
import java.lang.invoke.MethodHandle;
import java.net.Inet4Address;
import java.net.InetSocketAddress;
import java.net.UnknownHostException;
import java.nio.ByteOrder;

/**
 * An IPv4 UDP socket of Linux, driven directly by system calls. Not thread safe.
 *
 * <p>The socket is not connected and does not fragment, as a software RoCE device requires. A connected socket sends IP
 * identifications, which the CRC would have to include.
 *
 * <p>The constants are those of Linux' generic 64-bit ABI: x86-64 and AArch64.
 */
public final class UdpSocket implements AutoCloseable {
    private static final int AF_INET = 2;
    private static final int SOCK_DGRAM = 2;
    private static final int SOCK_CLOEXEC = 0x80000;
    private static final int MSG_DONTWAIT = 0x40;
    private static final int SOL_SOCKET = 1;
    private static final int SO_SNDBUF = 7;
    private static final int SO_RCVBUF = 8;
    private static final int SO_SNDBUFFORCE = 32;
    private static final int SO_RCVBUFFORCE = 33;
    private static final int IPPROTO_IP = 0;
    private static final int IP_MTU_DISCOVER = 10;
    private static final int PMTUDISC_DO = 2;
    private static final int SOL_UDP = 17;
    private static final int UDP_SEGMENT = 103;
    private static final int UDP_GRO = 104;
    private static final int EAGAIN = 11;
    private static final int ECONNREFUSED = 111;

    private static final int ADDRESS_BYTES = 16;
    private static final int MESSAGE_BYTES = 56;
    private static final int CONTROL_BYTES = 24;

    private static final StructLayout CAPTURE = Linker.Option.captureStateLayout();
    private static final long ERRNO_OFFSET = CAPTURE.byteOffset(PathElement.groupElement("errno"));
    private static final Linker.Option ERRNO = Linker.Option.captureCallState("errno");

    private static final MethodHandle SOCKET =
            handle("socket", FunctionDescriptor.of(JAVA_INT, JAVA_INT, JAVA_INT, JAVA_INT));
    private static final MethodHandle BIND =
            handle("bind", FunctionDescriptor.of(JAVA_INT, JAVA_INT, ADDRESS, JAVA_INT));
    private static final MethodHandle GETSOCKNAME =
            handle("getsockname", FunctionDescriptor.of(JAVA_INT, JAVA_INT, ADDRESS, ADDRESS));
    private static final MethodHandle SETSOCKOPT =
            handle("setsockopt", FunctionDescriptor.of(JAVA_INT, JAVA_INT, JAVA_INT, JAVA_INT, ADDRESS, JAVA_INT));
    private static final MethodHandle SENDTO = handle(
            "sendto", FunctionDescriptor.of(JAVA_LONG, JAVA_INT, ADDRESS, JAVA_LONG, JAVA_INT, ADDRESS, JAVA_INT));
    private static final MethodHandle SENDMSG =
            handle("sendmsg", FunctionDescriptor.of(JAVA_LONG, JAVA_INT, ADDRESS, JAVA_INT));
    private static final MethodHandle RECV =
            handle("recv", FunctionDescriptor.of(JAVA_LONG, JAVA_INT, ADDRESS, JAVA_LONG, JAVA_INT));
    private static final MethodHandle RECVMSG =
            handle("recvmsg", FunctionDescriptor.of(JAVA_LONG, JAVA_INT, ADDRESS, JAVA_INT));
    private static final MethodHandle CLOSE = handle("close", FunctionDescriptor.of(JAVA_INT, JAVA_INT));

    private final Arena arena = Arena.ofShared();
    private final MemorySegment errno = arena.allocate(CAPTURE);
    private final MemorySegment peer = arena.allocate(ADDRESS_BYTES, 8);
    private final int descriptor;
    private final MemorySegment sendMessage = arena.allocate(MESSAGE_BYTES, 8);
    private final MemorySegment sendVector = arena.allocate(16, 8);
    private final MemorySegment sendControl = arena.allocate(CONTROL_BYTES, 8);
    private final MemorySegment receiveMessage = arena.allocate(MESSAGE_BYTES, 8);
    private final MemorySegment receiveVector = arena.allocate(16, 8);
    private final MemorySegment receiveControl = arena.allocate(CONTROL_BYTES, 8);
    private int segmentBytes;

    /**
     * Opens a socket at an address, with a port that the kernel chooses.
     *
     * @param host a numeric IPv4 address
     * @param bufferBytes size of the receive and send buffers to request; 0 leaves the default
     */
    public UdpSocket(String host, int bufferBytes) throws IOException {
        descriptor =
                check("socket", call(() -> (int) SOCKET.invokeExact(errno, AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0)));
        setOption(IPPROTO_IP, IP_MTU_DISCOVER, PMTUDISC_DO);
        if (bufferBytes > 0) {
            // The FORCE options need a privilege; the others are limited by the system.
            if (!trySetOption(SOL_SOCKET, SO_RCVBUFFORCE, bufferBytes)) {
                setOption(SOL_SOCKET, SO_RCVBUF, bufferBytes);
            }
            if (!trySetOption(SOL_SOCKET, SO_SNDBUFFORCE, bufferBytes)) {
                setOption(SOL_SOCKET, SO_SNDBUF, bufferBytes);
            }
        }
        MemorySegment local = arena.allocate(ADDRESS_BYTES, 8);
        writeAddress(local, new InetSocketAddress(host, 0));
        check("bind", call(() -> (int) BIND.invokeExact(errno, descriptor, local, ADDRESS_BYTES)));
    }

    @SuppressWarnings("restricted")
    private static MethodHandle handle(String name, FunctionDescriptor descriptor) {
        Linker linker = Linker.nativeLinker();
        return linker.downcallHandle(linker.defaultLookup().findOrThrow(name), descriptor, ERRNO);
    }

    private interface Call {
        int run() throws Throwable;
    }

    private static int call(Call call) {
        try {
            return call.run();
        } catch (Throwable e) {
            throw impossible(e);
        }
    }

    private static AssertionError impossible(Throwable e) {
        return new AssertionError("a system call does not throw", e);
    }

    private int check(String name, int returned) throws IOException {
        if (returned < 0) {
            throw failure(name);
        }
        return returned;
    }

    private int lastErrno() {
        return errno.get(JAVA_INT, ERRNO_OFFSET);
    }

    private IOException failure(String name) {
        return new IOException(name + ": errno " + lastErrno());
    }

    private boolean trySetOption(int level, int option, int value) {
        MemorySegment memory = arena.allocateFrom(JAVA_INT, value);
        return call(() -> (int) SETSOCKOPT.invokeExact(errno, descriptor, level, option, memory, 4)) == 0;
    }

    private void setOption(int level, int option, int value) throws IOException {
        if (!trySetOption(level, option, value)) {
            throw failure("setsockopt " + level + "/" + option);
        }
    }

    private static void writeAddress(MemorySegment target, InetSocketAddress address) throws UnknownHostException {
        if (!(address.getAddress() instanceof Inet4Address)) {
            throw new UnknownHostException(address + " is not an IPv4 address");
        }
        target.set(JAVA_SHORT, 0, (short) AF_INET);
        target.set(JAVA_SHORT.withOrder(ByteOrder.BIG_ENDIAN), 2, (short) address.getPort());
        MemorySegment.copy(address.getAddress().getAddress(), 0, target, JAVA_BYTE, 4, 4);
    }

    /** Returns the port that the socket is bound to. */
    public int port() throws IOException {
        MemorySegment address = arena.allocate(ADDRESS_BYTES, 8);
        MemorySegment length = arena.allocateFrom(JAVA_INT, ADDRESS_BYTES);
        check("getsockname", call(() -> (int) GETSOCKNAME.invokeExact(errno, descriptor, address, length)));
        return Short.toUnsignedInt(address.get(JAVA_SHORT.withOrder(ByteOrder.BIG_ENDIAN), 2));
    }

    /** Sets the destination of all datagrams. */
    public void peer(String host, int port) throws IOException {
        writeAddress(peer, new InetSocketAddress(host, port));
    }

    /** Sends one datagram; blocks while the send buffer is full. */
    public void send(MemorySegment data, long bytes) throws IOException {
        long returned;
        try {
            returned = (long) SENDTO.invokeExact(errno, descriptor, data, bytes, 0, peer, ADDRESS_BYTES);
        } catch (Throwable e) {
            throw impossible(e);
        }
        if (returned < 0 && lastErrno() != ECONNREFUSED) {
            throw failure("sendto");
        }
    }

    /**
     * Receives one datagram.
     *
     * @param wait true to block until a datagram arrives
     * @return length of the datagram, or -1 if none is available
     */
    public long receive(MemorySegment target, boolean wait) throws IOException {
        long returned;
        try {
            returned = (long) RECV.invokeExact(errno, descriptor, target, target.byteSize(), wait ? 0 : MSG_DONTWAIT);
        } catch (Throwable e) {
            throw impossible(e);
        }
        return returned >= 0 ? returned : noDatagram("recv");
    }

    private long noDatagram(String name) throws IOException {
        int number = lastErrno();
        if (number != EAGAIN && number != ECONNREFUSED) {
            throw failure(name);
        }
        return -1;
    }

    // ---- several datagrams per call

    /**
     * Prepares {@link #sendSegments} and {@link #receiveSegments}.
     *
     * @param from memory to send from
     * @param into memory to receive into
     */
    public void prepareSegments(MemorySegment from, MemorySegment into) throws IOException {
        setOption(SOL_UDP, UDP_GRO, 1);
        prepare(sendMessage, sendVector, sendControl, from);
        sendMessage.set(ADDRESS, 0, peer);
        sendMessage.set(JAVA_INT, 8, ADDRESS_BYTES);
        sendControl.set(JAVA_LONG, 0, 18);
        sendControl.set(JAVA_INT, 8, SOL_UDP);
        sendControl.set(JAVA_INT, 12, UDP_SEGMENT);
        prepare(receiveMessage, receiveVector, receiveControl, into);
    }

    /** Fills {@code struct msghdr}: a vector of one element, and the control data. */
    private static void prepare(
            MemorySegment message, MemorySegment vector, MemorySegment control, MemorySegment data) {
        vector.set(ADDRESS, 0, data);
        vector.set(JAVA_LONG, 8, data.byteSize());
        message.set(ADDRESS, 16, vector);
        message.set(JAVA_LONG, 24, 1);
        message.set(ADDRESS, 32, control);
        message.set(JAVA_LONG, 40, CONTROL_BYTES);
    }

    /** Sends the first {@code bytes} of the prepared memory as datagrams of {@code eachBytes}; the last may be shorter. */
    public void sendSegments(long bytes, int eachBytes) throws IOException {
        sendVector.set(JAVA_LONG, 8, bytes);
        sendControl.set(JAVA_SHORT, 16, (short) eachBytes);
        long returned;
        try {
            returned = (long) SENDMSG.invokeExact(errno, descriptor, sendMessage, 0);
        } catch (Throwable e) {
            throw impossible(e);
        }
        if (returned < 0 && lastErrno() != ECONNREFUSED) {
            throw failure("sendmsg");
        }
    }

    /**
     * Receives datagrams of equal size into the prepared memory, without blocking.
     *
     * @return their total length, or -1 if none are available; {@link #segmentBytes} is the size of each but the last
     */
    public long receiveSegments() throws IOException {
        receiveMessage.set(JAVA_LONG, 40, CONTROL_BYTES);
        long returned;
        try {
            returned = (long) RECVMSG.invokeExact(errno, descriptor, receiveMessage, MSG_DONTWAIT);
        } catch (Throwable e) {
            throw impossible(e);
        }
        if (returned < 0) {
            return noDatagram("recvmsg");
        }
        boolean coalesced = receiveMessage.get(JAVA_LONG, 40) >= 20
                && receiveControl.get(JAVA_INT, 8) == SOL_UDP
                && receiveControl.get(JAVA_INT, 12) == UDP_GRO;
        segmentBytes = coalesced ? receiveControl.get(JAVA_INT, 16) : (int) returned;
        return returned;
    }

    /** Returns the size of the datagrams that {@link #receiveSegments} received last. */
    public int segmentBytes() {
        return segmentBytes;
    }

    @Override
    public void close() {
        var _ = call(() -> (int) CLOSE.invokeExact(errno, descriptor));
        arena.close();
    }
}

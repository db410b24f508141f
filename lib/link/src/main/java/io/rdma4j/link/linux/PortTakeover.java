package io.rdma4j.link.linux;

import static java.lang.foreign.ValueLayout.JAVA_INT_UNALIGNED;

import io.rdma4j.link.ReceiveBurst;
import io.rdma4j.link.host.GidAddresses;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.ref.Reference;
import java.net.InetSocketAddress;
import java.nio.ByteOrder;
import java.security.SecureRandom;
import java.util.concurrent.locks.LockSupport;

/**
 * Directs the input of a port to one of the sockets that share it with SO_REUSEPORT, in several processes.
 *
 * <p>The system numbers the sockets of a port in the order of binding, moves the last one to the number of a socket that is
 * closed, and does not report this. A socket therefore finds its number by experiment: the program of the port directs probes,
 * datagrams that start with a secret word and a number, to the socket with this number. The socket sends a probe for each number
 * to its own port; the probe that arrives has its number. Probes for numbers that no socket has may also arrive, by the hash that
 * the system falls back to; their numbers are greater than those of all sockets, so the lowest number is used.
 *
 * <p>Used by the thread that uses the link.
 */
final class PortTakeover {
    /** The maximum number of sockets that may share a port: the engines of the process that bound it first, and those that took it. */
    private static final int MAX_SOCKETS = 64;

    /**
     * The probes sent at a time. Probes that this socket does not receive remain in other sockets, perhaps of stopped
     * processes.
     */
    private static final int PROBES = 8;

    private static final int PROBE_BYTES = 12;
    private static final int DISCARDED_FRAMES = 64;
    private static final int UNKNOWN = Integer.MAX_VALUE;
    private static final int ATTEMPTS = 3;
    private static final int PAUSES = 20;

    /** The maximum number of polls: enough to empty a socket's buffer unless a lot arrives meanwhile. */
    private static final int MAX_POLLS = 1000;

    private static final long PAUSE_NANOS = 500_000;
    private static final ValueLayout.OfInt WORD = JAVA_INT_UNALIGNED.withOrder(ByteOrder.BIG_ENDIAN);
    private static final SecureRandom RANDOM = new SecureRandom();

    private final Socket socket;
    private final int secret = RANDOM.nextInt();
    private final MemorySegment name = Arena.ofAuto().allocate(SocketAddresses.IPV6_BYTES, 8);
    private final int nameBytes;
    private final MemorySegment probe = Arena.ofAuto().allocate(PROBE_BYTES, 8);

    /** The lowest number of a probe that has arrived, which the program returns. */
    private int number = UNKNOWN;

    /** True if a probe has arrived since the last ones were sent. */
    private boolean hasArrived;

    /** Prepares to take the port of a socket that is bound with SO_REUSEPORT. */
    PortTakeover(Socket socket, InetSocketAddress local) {
        this.socket = socket;
        nameBytes = SocketAddresses.write(
                name,
                GidAddresses.high(local.getAddress()),
                GidAddresses.low(local.getAddress()),
                GidAddresses.scope(local.getAddress()),
                local.getPort());
    }

    /** Takes the port; input that arrives meanwhile is lost. Returns false if that is not possible. */
    boolean begin(DatagramRing ring) {
        ReceiveBurst burst = new ReceiveBurst(DISCARDED_FRAMES);
        if (!attach()) {
            return false;
        }
        for (int first = 0; first < MAX_SOCKETS && number == UNKNOWN; first += PROBES) {
            sendProbes(first, first + PROBES);
            awaitProbe(ring, burst);
        }
        if (number == UNKNOWN) {
            return false;
        }
        for (int i = 0; i < ATTEMPTS; i++) {
            // The probes of two processors may have overtaken each other.
            int before = number;
            check();
            awaitProbe(ring, burst);
            if (hasArrived && number == before) {
                return true;
            }
        }
        return false;
    }

    private void awaitProbe(DatagramRing ring, ReceiveBurst burst) {
        hasArrived = false;
        for (int i = 0; i < PAUSES && !hasArrived; i++) {
            LockSupport.parkNanos(PAUSE_NANOS);
            drain(ring, burst);
        }
    }

    private static void drain(DatagramRing ring, ReceiveBurst burst) {
        for (int i = 0; i < MAX_POLLS; i++) {
            burst.clear();
            ring.poll(burst);
            if (burst.count() == 0) {
                return;
            }
        }
    }

    /**
     * Sends the probes that show whether the number of the socket has changed: it never increases. When none has arrived since
     * the last call, the program may belong to a former owner, which has closed a socket.
     */
    void check() {
        if (!hasArrived) {
            boolean _ = attach();
        }
        hasArrived = false;
        sendProbes(0, number + 1);
    }

    /** Attaches the program: it directs a probe to the socket with its number, and everything else to this socket. */
    private boolean attach() {
        return new PortProgram(8)
                .add(PortProgram.LOAD_LENGTH, 0)
                .add(PortProgram.JUMP_IF_EQUAL, 0, 4, PROBE_BYTES)
                .add(PortProgram.LOAD_WORD, 0)
                .add(PortProgram.JUMP_IF_EQUAL, 0, 2, secret)
                .add(PortProgram.LOAD_WORD, Integer.BYTES)
                .add(PortProgram.RETURN_LOADED, 0)
                .add(PortProgram.RETURN, number == UNKNOWN ? 0 : number)
                .attach(socket.fd);
    }

    private void sendProbes(int from, int to) {
        probe.set(WORD, 0, secret);
        try {
            for (int i = from; i < to; i++) {
                probe.set(WORD, Integer.BYTES, i);
                int _ = Posix.sendto(socket.errno, socket.fd, probe.address(), PROBE_BYTES, name, nameBytes);
            }
        } finally {
            Reference.reachabilityFence(this);
        }
    }

    /** Takes a received datagram if it is a probe; returns whether it was one. */
    boolean takes(MemorySegment memory, long offset, int bytes) {
        if (bytes != PROBE_BYTES || memory.get(WORD, offset) != secret) {
            return false;
        }
        hasArrived = true;
        int arrived = memory.get(WORD, offset + Integer.BYTES);
        if (arrived >= 0 && arrived < number) {
            number = arrived;
            boolean _ = attach();
        }
        return true;
    }
}

package io.rdma4j.link.linux;

import static java.lang.foreign.ValueLayout.JAVA_INT_UNALIGNED;

import io.rdma4j.link.ReceiveBurst;
import io.rdma4j.link.internal.GidAddresses;
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
 * <p>The system numbers the sockets of a port in the order of binding, moves the last one to the number of one that is
 * closed, and tells nobody. So a socket finds its number by experiment: the program of the port sends datagrams that
 * begin with a secret word, the probes, to the socket whose number follows. The socket sends a probe for each number to
 * its own port, and has the number of the one that arrives. Probes for numbers that no socket has may arrive as well,
 * by the hash that the system falls back to; they are greater than all numbers of sockets. A probe of another kind
 * takes the way of all datagrams, and tells whether they arrive.
 *
 * <p>Used by the thread that uses the link.
 */
final class PortTakeover {
    /** The most sockets that may share a port: the engines of the process that bound it first, and those that took it. */
    private static final int MOST_SOCKETS = 256;

    /** The probes sent at a time. Those that this socket does not get are left in others, perhaps of stopped processes. */
    private static final int PROBES = 8;

    private static final int PROBE_BYTES = 12;
    private static final int ORDINARY = -1;
    private static final int DISCARDED_FRAMES = 64;
    private static final int NOT_FOUND = Integer.MAX_VALUE;
    private static final int ATTEMPTS = 3;
    private static final int PAUSES = 20;

    /** More than empty a socket's buffer, unless much arrives meanwhile. */
    private static final int MOST_POLLS = 1000;

    private static final long PAUSE_NANOS = 500_000;
    private static final ValueLayout.OfInt WORD = JAVA_INT_UNALIGNED.withOrder(ByteOrder.BIG_ENDIAN);
    private static final SecureRandom RANDOM = new SecureRandom();

    private final Socket socket;
    private final int secret = RANDOM.nextInt();
    private final int otherSecret = RANDOM.nextInt();
    private final MemorySegment name = Arena.ofAuto().allocate(SocketAddresses.IPV6_BYTES, 8);
    private final int nameBytes;
    private final MemorySegment probe = Arena.ofAuto().allocate(PROBE_BYTES, 8);

    /** The number that the program returns. */
    private int number;

    /** The least number of the probes that have arrived since they were sent. */
    private int found = NOT_FOUND;

    private boolean isConfirmed;

    /** The number of the next probe of a search that goes on. */
    private int nextProbe;

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

    /** Takes the port; what arrives meanwhile is lost. Returns false if that is not possible. */
    boolean begin(DatagramRing ring) {
        ReceiveBurst burst = new ReceiveBurst(DISCARDED_FRAMES);
        for (int i = 0; i < ATTEMPTS; i++) {
            if (!attach()) {
                return false;
            }
            search(ring, burst);
            if (found != NOT_FOUND && useFound() && arrives(ring, burst)) {
                return true;
            }
        }
        return false;
    }

    private void search(DatagramRing ring, ReceiveBurst burst) {
        for (int first = 0; first < MOST_SOCKETS && found == NOT_FOUND; first += PROBES) {
            sendProbes(first);
            for (int i = 0; i < PAUSES && found == NOT_FOUND; i++) {
                LockSupport.parkNanos(PAUSE_NANOS);
                drain(ring, burst);
            }
        }
    }

    /** Returns whether an ordinary datagram arrives: the probes of two processors may have overtaken each other. */
    private boolean arrives(DatagramRing ring, ReceiveBurst burst) {
        isConfirmed = false;
        send(otherSecret, ORDINARY);
        for (int i = 0; i < PAUSES && !isConfirmed; i++) {
            drain(ring, burst);
            if (!isConfirmed) {
                LockSupport.parkNanos(PAUSE_NANOS);
            }
        }
        return isConfirmed;
    }

    private static void drain(DatagramRing ring, ReceiveBurst burst) {
        for (int i = 0; i < MOST_POLLS; i++) {
            burst.clear();
            ring.poll(burst);
            if (burst.count() == 0) {
                return;
            }
        }
    }

    /** Examines whether the input of the port arrives, and corrects the program if it does not. */
    void check() {
        if (found != NOT_FOUND) {
            boolean _ = useFound();
        } else if (!isConfirmed) {
            boolean _ = attach(); // a former owner may have attached a program of its own when it closed a socket
            sendProbes(nextProbe);
            nextProbe = (nextProbe + PROBES) % MOST_SOCKETS;
        }
        isConfirmed = false;
        send(otherSecret, ORDINARY);
    }

    private boolean useFound() {
        number = found;
        found = NOT_FOUND;
        nextProbe = 0;
        isConfirmed = true; // until the next check shows otherwise
        return attach();
    }

    /** Attaches the program: a probe to the socket of its number, everything else to this one. */
    private boolean attach() {
        return new PortProgram(8)
                .add(PortProgram.LOAD_LENGTH, 0)
                .add(PortProgram.JUMP_IF_EQUAL, 0, 4, PROBE_BYTES)
                .add(PortProgram.LOAD_WORD, 0)
                .add(PortProgram.JUMP_IF_EQUAL, 0, 2, secret)
                .add(PortProgram.LOAD_WORD, Integer.BYTES)
                .add(PortProgram.RETURN_LOADED, 0)
                .add(PortProgram.RETURN, number)
                .attach(socket.fd);
    }

    private void sendProbes(int first) {
        for (int i = 0; i < PROBES; i++) {
            send(secret, first + i);
        }
    }

    private void send(int word, int probed) {
        probe.set(WORD, 0, word);
        probe.set(WORD, Integer.BYTES, probed);
        probe.set(WORD, 2 * Integer.BYTES, 0);
        try {
            int _ = Posix.sendto(socket.errno, socket.fd, probe.address(), PROBE_BYTES, name, nameBytes);
        } finally {
            Reference.reachabilityFence(this);
        }
    }

    /** Takes a received datagram if it is a probe; returns whether it was one. */
    boolean takes(MemorySegment memory, long offset, int bytes) {
        if (bytes != PROBE_BYTES) {
            return false;
        }
        int word = memory.get(WORD, offset);
        if (word == otherSecret) {
            isConfirmed = true;
            return true;
        }
        if (word == secret) {
            found = Math.min(found, memory.get(WORD, offset + Integer.BYTES));
            return true;
        }
        return false;
    }
}

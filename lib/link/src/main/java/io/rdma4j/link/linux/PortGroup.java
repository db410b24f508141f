package io.rdma4j.link.linux;

import static java.lang.foreign.ValueLayout.JAVA_INT;

import io.rdma4j.link.QueuePairRanges;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.net.InetSocketAddress;
import java.util.ArrayList;
import java.util.List;

/**
 * The sockets of this process on one address and UDP port. A BPF program selects the socket that receives a frame
 * (socket(7), SO_REUSEPORT and SO_ATTACH_REUSEPORT_CBPF).
 *
 * <p>The first socket is bound without SO_REUSEPORT, so that a process that binds the port owns it exclusively. The option is set
 * afterwards: permanently if another process may take the port over ({@link PortTakeover}), otherwise only while there are other
 * sockets. Linux numbers the sockets of a port from 0 in the order of binding, and moves the last one to the number of a socket
 * that closes. {@link #members} is kept in the same order. The program belongs to the group, regardless of which socket attached
 * it.
 *
 * <p>Thread safe: the sockets belong to sets that different threads drive. Every socket of a group is closed by {@link
 * #close}, so no descriptor number is reused for another file while the group uses it.
 */
final class PortGroup {
    /**
     * Offset of the word that holds the destination queue pair number. The program's data starts at the UDP payload,
     * which is the BTH.
     */
    private static final int QUEUE_PAIR_WORD = 4;

    private static final int QUEUE_PAIR_MASK = 0xffffff;

    private static final int INSTRUCTIONS_PER_RANGE = 3;

    /** The address and port of all sockets. */
    final InetSocketAddress local;

    private final boolean alwaysAllowsOthers;

    /** True if another process has taken the port, and its program must stay; guarded by this object. */
    private boolean isAbandoned;

    /** Guarded by this object. */
    private final List<Member> members = new ArrayList<>();

    /**
     * A socket and the range of queue pair numbers that it receives frames for. The first member has no range: {@code to} is -1.
     */
    private record Member(Socket socket, int from, int to) {
        boolean overlaps(int otherFrom, int otherTo) {
            return from <= otherTo && otherFrom <= to;
        }

        boolean hasRange() {
            return to >= 0;
        }
    }

    /**
     * Creates a group of the socket that has bound the port. No other thread uses the socket yet.
     *
     * @param alwaysAllowsOthers true if SO_REUSEPORT is set, and must stay set
     */
    PortGroup(Socket first, InetSocketAddress local, boolean alwaysAllowsOthers) {
        this.local = local;
        this.alwaysAllowsOthers = alwaysAllowsOthers;
        members.add(new Member(first, 0, -1));
        first.joinGroup(this);
    }

    /**
     * Binds a socket that no other thread uses yet, and directs frames for a range of queue pair numbers to it.
     *
     * @return false if the system refuses; the other members are unaffected, and the caller closes the socket
     * @throws IOException if the first socket is closed
     * @throws IllegalArgumentException if the range overlaps the range of another member
     */
    synchronized boolean join(Socket socket, int from, int to) throws IOException {
        if (members.isEmpty() || members.getFirst().hasRange()) {
            throw new IOException("open a steered link at " + local + ": the first link there is closed");
        }
        if (isAbandoned) {
            return false;
        }
        for (Member member : members) {
            if (member.overlaps(from, to)) {
                throw new IllegalArgumentException("open a steered link at " + local + " for queue pair numbers "
                        + QueuePairRanges.describe(from, to) + ": another link there has "
                        + QueuePairRanges.describe(member.from, member.to));
            }
        }
        MemorySegment name = Arena.ofAuto().allocate(SocketAddresses.IPV6_BYTES, 8);
        boolean bound = socket.option(Posix.SOL_SOCKET, Posix.SO_REUSEPORT, 1)
                && allowOthers(true)
                && socket.bind(name, local.getAddress(), local.getPort()) == 0;
        if (bound) {
            members.add(new Member(socket, from, to));
            socket.joinGroup(this);
            if (attach()) {
                return true;
            }
            close(socket);
        } else if (members.size() == 1) {
            boolean _ = allowOthers(false);
        }
        return false;
    }

    /** Leaves the port to the process that has taken it. */
    synchronized void abandon() {
        isAbandoned = true;
    }

    /** Closes a member. Closing it again has no effect. */
    synchronized void close(Socket socket) {
        socket.release();
        for (int i = 0; i < members.size(); i++) {
            if (members.get(i).socket == socket) {
                Member last = members.removeLast();
                if (i < members.size()) {
                    members.set(i, last);
                }
                update();
                return;
            }
        }
    }

    /**
     * Updates the program after a member has left. If that fails, the old program remains, which is wrong for at most
     * one range.
     */
    private void update() {
        if (!members.isEmpty() && !isAbandoned) {
            boolean _ = attach();
            if (members.size() == 1) {
                boolean _ = allowOthers(false);
            }
        }
    }

    /** Sets or clears SO_REUSEPORT on the oldest socket. */
    private boolean allowOthers(boolean allowed) {
        if (alwaysAllowsOthers) {
            return true;
        }
        MemorySegment value = Arena.ofAuto().allocateFrom(JAVA_INT, allowed ? 1 : 0);
        int fd = members.getFirst().socket.fd;
        // With separate errno memory, since another thread may use the socket's.
        return Posix.setsockopt(Posix.newErrno(), fd, Posix.SOL_SOCKET, Posix.SO_REUSEPORT, value) == 0;
    }

    /** Attaches the program for the current members. */
    private boolean attach() {
        return program().attach(members.getFirst().socket.fd);
    }

    /**
     * Builds the program. It returns the index of the member with a range that includes the destination queue pair number,
     * otherwise 0.
     */
    private PortProgram program() {
        long ranges = members.stream().filter(Member::hasRange).count();
        PortProgram program = new PortProgram(3 + INSTRUCTIONS_PER_RANGE * ranges)
                .add(PortProgram.LOAD_WORD, QUEUE_PAIR_WORD)
                .add(PortProgram.AND, QUEUE_PAIR_MASK);
        for (int i = 0; i < members.size(); i++) {
            Member member = members.get(i);
            if (member.hasRange()) {
                program.add(PortProgram.JUMP_IF_AT_LEAST, 0, 2, member.from)
                        .add(PortProgram.JUMP_IF_ABOVE, 1, 0, member.to)
                        .add(PortProgram.RETURN, i);
            }
        }
        return program.add(PortProgram.RETURN, 0);
    }
}

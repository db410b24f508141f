package io.rdma4j.link.linux;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;
import static java.lang.foreign.ValueLayout.JAVA_SHORT;

import io.rdma4j.link.QueuePairRanges;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.ref.Reference;
import java.net.InetSocketAddress;
import java.util.ArrayList;
import java.util.List;

/**
 * The sockets of this process on one address and UDP port. A BPF program selects the socket that receives a frame
 * (socket(7), SO_REUSEPORT and SO_ATTACH_REUSEPORT_CBPF).
 *
 * <p>The first socket is bound without SO_REUSEPORT, so that a process that binds the port owns it exclusively. The
 * option is set only while there are other sockets. Linux numbers the sockets of a port from 0 in the order of binding,
 * and moves the last one to the number of a socket that closes. {@link #members} is kept in the same order. The program
 * belongs to the group, regardless of which socket attached it.
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

    /** Size of {@code struct sock_filter}: code, number of instructions to skip if true and if false, operand. */
    private static final int INSTRUCTION_BYTES = 8;
    /** Size of {@code struct sock_fprog}: number of instructions, pointer to them. */
    private static final int PROGRAM_BYTES = 16;

    private static final int PROGRAM_INSTRUCTIONS = 8;

    /** BPF_LD | BPF_W | BPF_ABS: loads a big-endian word; beyond the end of the packet, the program returns 0. */
    private static final int LOAD_WORD = 0x20;
    /** BPF_ALU | BPF_AND | BPF_K. */
    private static final int AND = 0x54;
    /** BPF_JMP | BPF_JGE | BPF_K. */
    private static final int JUMP_IF_AT_LEAST = 0x35;
    /** BPF_JMP | BPF_JGT | BPF_K. */
    private static final int JUMP_IF_ABOVE = 0x25;
    /** BPF_RET | BPF_K. */
    private static final int RETURN = 0x06;

    private static final int INSTRUCTIONS_PER_RANGE = 3;

    /** The address and port of all sockets. */
    final InetSocketAddress local;

    /** Guarded by this object. */
    private final List<Member> members = new ArrayList<>();

    /**
     * A socket and the range of queue pair numbers whose frames it receives. The first member has no range: {@code to}
     * is -1.
     */
    private record Member(Socket socket, int from, int to) {
        boolean overlaps(int otherFrom, int otherTo) {
            return from <= otherTo && otherFrom <= to;
        }

        boolean hasRange() {
            return to >= 0;
        }
    }

    /** Creates a group of the socket that has bound the port. No other thread uses the socket yet. */
    PortGroup(Socket first, InetSocketAddress local) {
        this.local = local;
        members.add(new Member(first, 0, -1));
        first.joinGroup(this);
    }

    /**
     * Binds a socket that no other thread uses yet, and directs frames for a range of queue pair numbers to it.
     *
     * @return false if the system refuses; the other members are unaffected, and the caller closes the socket
     * @throws IOException if the first socket is closed
     * @throws IllegalArgumentException if the range overlaps that of another member
     */
    synchronized boolean join(Socket socket, int from, int to) throws IOException {
        if (members.isEmpty() || members.getFirst().hasRange()) {
            throw new IOException("open a steered link at " + local + ": the first link there is closed");
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
        if (!members.isEmpty()) {
            boolean _ = attach();
            if (members.size() == 1) {
                boolean _ = allowOthers(false);
            }
        }
    }

    /** Sets or clears SO_REUSEPORT on the oldest socket. */
    private boolean allowOthers(boolean allowed) {
        MemorySegment value = Arena.ofAuto().allocateFrom(JAVA_INT, allowed ? 1 : 0);
        return set(Posix.SO_REUSEPORT, value);
    }

    /**
     * Sets an option of the oldest socket, with separate errno memory, since another thread may use the socket's own.
     */
    private boolean set(int option, MemorySegment value) {
        int fd = members.getFirst().socket.fd;
        return Posix.setsockopt(Posix.newErrno(), fd, Posix.SOL_SOCKET, option, value) == 0;
    }

    /** Attaches the program for the current members. */
    private boolean attach() {
        MemorySegment instructions = program();
        MemorySegment program = Arena.ofAuto().allocate(PROGRAM_BYTES, 8);
        program.set(JAVA_SHORT, 0, (short) (instructions.byteSize() / INSTRUCTION_BYTES));
        program.set(JAVA_LONG, PROGRAM_INSTRUCTIONS, instructions.address());
        try {
            return set(Posix.SO_ATTACH_REUSEPORT_CBPF, program);
        } finally {
            Reference.reachabilityFence(instructions);
        }
    }

    /**
     * Builds the program. It returns the index of the member whose range includes the destination queue pair number,
     * else 0.
     */
    private MemorySegment program() {
        long ranges = members.stream().filter(Member::hasRange).count();
        MemorySegment program = Arena.ofAuto().allocate((3 + INSTRUCTIONS_PER_RANGE * ranges) * INSTRUCTION_BYTES, 8);
        long position = put(program, 0, LOAD_WORD, 0, 0, QUEUE_PAIR_WORD);
        position = put(program, position, AND, 0, 0, QUEUE_PAIR_MASK);
        for (int i = 0; i < members.size(); i++) {
            Member member = members.get(i);
            if (member.hasRange()) {
                position = put(program, position, JUMP_IF_AT_LEAST, 0, 2, member.from);
                position = put(program, position, JUMP_IF_ABOVE, 1, 0, member.to);
                position = put(program, position, RETURN, 0, 0, i);
            }
        }
        put(program, position, RETURN, 0, 0, 0);
        return program;
    }

    private static long put(
            MemorySegment program, long position, int code, int skipIfTrue, int skipIfFalse, int operand) {
        program.set(JAVA_SHORT, position, (short) code);
        program.set(JAVA_BYTE, position + 2, (byte) skipIfTrue);
        program.set(JAVA_BYTE, position + 3, (byte) skipIfFalse);
        program.set(JAVA_INT, position + 4, operand);
        return position + INSTRUCTION_BYTES;
    }
}

package io.rdma4j.link.linux;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;
import static java.lang.foreign.ValueLayout.JAVA_SHORT;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.ref.Reference;

/**
 * A classic BPF program that returns the number of the socket that receives a datagram, among the sockets of one port
 * (socket(7), SO_ATTACH_REUSEPORT_CBPF). Its data starts at the UDP payload. If the number is too large, the system
 * chooses a socket by a hash of addresses and ports.
 */
final class PortProgram {
    /** BPF_LD | BPF_W | BPF_ABS: loads a big-endian word; beyond the end of the packet, the program returns 0. */
    static final int LOAD_WORD = 0x20;
    /** BPF_ALU | BPF_AND | BPF_K. */
    static final int AND = 0x54;
    /** BPF_JMP | BPF_JEQ | BPF_K. */
    static final int JUMP_IF_EQUAL = 0x15;
    /** BPF_JMP | BPF_JGE | BPF_K. */
    static final int JUMP_IF_AT_LEAST = 0x35;
    /** BPF_JMP | BPF_JGT | BPF_K. */
    static final int JUMP_IF_ABOVE = 0x25;
    /** BPF_LD | BPF_W | BPF_LEN: loads the length of the payload. */
    static final int LOAD_LENGTH = 0x80;
    /** BPF_RET | BPF_K. */
    static final int RETURN = 0x06;
    /** BPF_RET | BPF_A: returns what was loaded. */
    static final int RETURN_LOADED = 0x16;

    /** Size of {@code struct sock_filter}: code, number of instructions to skip if true and if false, operand. */
    private static final int INSTRUCTION_BYTES = 8;
    /** Size of {@code struct sock_fprog}: number of instructions, pointer to them. */
    private static final int PROGRAM_BYTES = 16;

    private static final int PROGRAM_INSTRUCTIONS = 8;

    private final MemorySegment instructions;
    private int count;

    /** Creates an empty program with space for a number of instructions. */
    PortProgram(long capacity) {
        instructions = Arena.ofAuto().allocate(capacity * INSTRUCTION_BYTES, 8);
    }

    /** Appends an instruction without jumps. */
    PortProgram add(int code, int operand) {
        return add(code, 0, 0, operand);
    }

    /** Appends an instruction. */
    PortProgram add(int code, int skipIfTrue, int skipIfFalse, int operand) {
        long position = (long) count++ * INSTRUCTION_BYTES;
        instructions.set(JAVA_SHORT, position, (short) code);
        instructions.set(JAVA_BYTE, position + 2, (byte) skipIfTrue);
        instructions.set(JAVA_BYTE, position + 3, (byte) skipIfFalse);
        instructions.set(JAVA_INT, position + 4, operand);
        return this;
    }

    /** Attaches this program to the port of a socket; returns false if the system refuses. Any thread. */
    boolean attach(int fd) {
        MemorySegment program = Arena.ofAuto().allocate(PROGRAM_BYTES, 8);
        program.set(JAVA_SHORT, 0, (short) count);
        program.set(JAVA_LONG, PROGRAM_INSTRUCTIONS, instructions.address());
        try {
            // With separate errno memory, since another thread may use the socket's.
            return Posix.setsockopt(Posix.newErrno(), fd, Posix.SOL_SOCKET, Posix.SO_ATTACH_REUSEPORT_CBPF, program)
                    == 0;
        } finally {
            Reference.reachabilityFence(instructions);
        }
    }
}

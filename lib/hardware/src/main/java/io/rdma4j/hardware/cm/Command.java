package io.rdma4j.hardware.cm;

import io.rdma4j.cm.abi.CmStructures;
import io.rdma4j.verbs.Errno;
import io.rdma4j.verbs.RdmaException;
import io.rdma4j.verbs.abi.Fields;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.function.Supplier;

/** A command to the kernel, with the memory for its structure and its response. For one thread. */
final class Command implements AutoCloseable {
    private static final int ALIGNMENT = 8;

    /** The kernel's ENOTSUPP, for an operation that the transport does not support. User space has no name for it. */
    private static final int NOT_SUPPORTED_BY_TRANSPORT = 524;

    private final Arena arena = Arena.ofConfined();
    private final MemorySegment command;
    private final MemorySegment structure;
    private final MemorySegment response;

    /** Creates a command without a response, whose structure is zeroed. */
    Command(int number, int structureBytes) {
        this(number, structureBytes, -1, 0);
    }

    /**
     * Creates a command whose structure and response are zeroed.
     *
     * @param responseAt the offset at which the structure has the address of the response
     */
    Command(int number, int structureBytes, int responseAt, int responseBytes) {
        command = arena.allocate((long) CmStructures.CommandHeader.BYTES + structureBytes, ALIGNMENT);
        structure = command.asSlice(CmStructures.CommandHeader.BYTES);
        response = arena.allocate(responseBytes, ALIGNMENT);
        Fields.putInt(command, CmStructures.CommandHeader.COMMAND, number);
        Fields.putShort(command, CmStructures.CommandHeader.REQUEST_BYTES, structureBytes);
        Fields.putShort(command, CmStructures.CommandHeader.RESPONSE_BYTES, responseBytes);
        if (responseAt >= 0) {
            Fields.putLong(structure, responseAt, response.address());
        }
    }

    /** Returns the structure of the command, after its header. */
    MemorySegment structure() {
        return structure;
    }

    /** Returns the memory of the response. */
    MemorySegment response() {
        return response;
    }

    /** Returns more memory for the command, such as the value of an option. */
    MemorySegment allocate(int bytes) {
        return arena.allocate(bytes, ALIGNMENT);
    }

    /** Writes the command; returns 0 or the errno. */
    int write(CommandFile file) {
        int result = file.write(command);
        if (result >= 0) {
            return 0;
        }
        return -result == NOT_SUPPORTED_BY_TRANSPORT ? Errno.EOPNOTSUPP.number() : -result;
    }

    /**
     * Writes the command.
     *
     * @param operation the C name of the call, for the message
     * @param details the identifier, for the message
     * @throws RdmaException if the kernel refuses it
     */
    void send(CommandFile file, String operation, Supplier<String> details) {
        int error = write(file);
        if (error != 0) {
            Errno errno = Errno.of(error);
            throw new RdmaException(operation, errno, details.get(), CmRemedies.of(operation, errno));
        }
    }

    @Override
    public void close() {
        arena.close();
    }
}

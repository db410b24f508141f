package io.rdma4j.exec.cm;

import io.rdma4j.cm.abi.CmStructures.CommandHeader;
import io.rdma4j.verbs.Errno;
import io.rdma4j.verbs.RdmaException;
import io.rdma4j.verbs.abi.Fields;
import io.rdma4j.verbs.abi.Native;
import java.lang.foreign.MemorySegment;

/** One command: its file, its number, its structure, and the memory for its response. */
final class Request {
    final CmFile file;
    private final int command;
    private final MemorySegment structure;
    private final int responseBytes;

    /**
     * Reads the header of a command.
     *
     * @param written the bytes that the program has written to the file
     * @throws RdmaException {@code EINVAL} if they are fewer than the header specifies
     */
    Request(CmFile file, MemorySegment written) {
        if (written.byteSize() < CommandHeader.BYTES) {
            throw invalid("the command has no header");
        }
        int bytes = Fields.shortAt(written, CommandHeader.REQUEST_BYTES);
        if (written.byteSize() < CommandHeader.BYTES + bytes) {
            throw invalid("the command is shorter than its header specifies");
        }
        this.file = file;
        command = Fields.intAt(written, CommandHeader.COMMAND);
        structure = written.asSlice(CommandHeader.BYTES, bytes);
        responseBytes = Fields.shortAt(written, CommandHeader.RESPONSE_BYTES);
    }

    /** Returns the number of the command. */
    int command() {
        return command;
    }

    /**
     * Returns the structure.
     *
     * @param bytes the size that the command needs; a newer librdmacm may send more
     * @throws RdmaException {@code EINVAL} if it is shorter
     */
    MemorySegment structure(int bytes) {
        if (structure.byteSize() < bytes) {
            throw invalid("a structure of " + structure.byteSize() + " bytes instead of " + bytes);
        }
        return structure;
    }

    /** Returns the identifier that the structure names. */
    Identifier identifier(int at) {
        return file.files.identifier(file, Fields.intAt(structure, at));
    }

    /**
     * Returns the maximum size of the response in bytes.
     *
     * @param bytes the size of the response in the oldest librdmacm
     * @throws RdmaException {@code ENOSPC} if the maximum is smaller
     */
    int requireResponse(int bytes) {
        if (responseBytes < bytes) {
            throw new RdmaException(
                    "rdma_ucm", Errno.ENOSPC, responseBytes + " bytes for a response of " + bytes + " bytes", "");
        }
        return responseBytes;
    }

    /**
     * Copies a response to the program. An older librdmacm takes only the beginning of it.
     *
     * @param at the offset of its address in the structure
     * @throws RdmaException {@code EFAULT} if there is no address
     */
    void respond(int at, MemorySegment response) {
        long address = Fields.longAt(structure, at);
        if (address == 0) {
            throw new RdmaException("rdma_ucm", Errno.EFAULT, "the response has no address", "");
        }
        long bytes = Math.min(responseBytes, response.byteSize());
        MemorySegment.copy(response, 0, Native.segment(address, bytes), 0, bytes);
    }

    /** Copies a response to the program that consists of a 32-bit number. */
    void respond(int at, int number) {
        MemorySegment response = memory(Integer.BYTES);
        Fields.putInt(response, 0, number);
        respond(at, response);
    }

    /** Returns zeroed memory for a response. */
    static MemorySegment memory(int bytes) {
        return MemorySegment.ofArray(new byte[bytes]);
    }

    /** Returns the exception for an invalid command. */
    static RdmaException invalid(String details) {
        return new RdmaException("rdma_ucm", Errno.EINVAL, details, "");
    }
}

package io.rdma4j.hardware.cm;

import java.lang.foreign.MemorySegment;

/** Accepts the commands of the connection manager; usually the kernel's device file. Thread safe. */
@FunctionalInterface
interface CommandFile {
    /**
     * Writes a command. On return, its response is in memory. Never waits for an event.
     *
     * @param command the header and the structure of the command
     * @return the number of bytes, or the negated errno
     */
    int write(MemorySegment command);
}

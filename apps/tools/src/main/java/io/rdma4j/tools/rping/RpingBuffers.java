package io.rdma4j.tools.rping;

import io.rdma4j.tools.command.ToolFailure;
import io.rdma4j.value.AccessFlag;
import io.rdma4j.verbs.Errno;
import io.rdma4j.verbs.MemoryRegion;
import io.rdma4j.verbs.ProtectionDomain;
import io.rdma4j.verbs.RdmaException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.ArrayDeque;
import java.util.Deque;

/**
 * The registered memory of one connection.
 *
 * <p>It consists of a control message for each direction, the buffer for the peer's data and, on a client, the source
 * buffer.
 */
final class RpingBuffers implements AutoCloseable {
    private final Arena arena = Arena.ofShared();
    private final Deque<MemoryRegion> registered = new ArrayDeque<>();
    private final RpingReport report;
    private final ProtectionDomain domain;
    private final MemoryRegion receive;
    private final MemoryRegion send;
    private final MemoryRegion data;
    private final MemoryRegion start;

    private RpingBuffers(ProtectionDomain domain, RpingOptions options, RpingReport report) throws ToolFailure {
        this.domain = domain;
        this.report = report;
        receive = register("recv_buf", RpingMessage.BYTES, AccessFlag.LOCAL_WRITE);
        send = register("send_buf", RpingMessage.BYTES);
        data = registerRemote("rdma_buf", options.sizeBytes());
        start = options.server() ? data : registerRemote("start_buf", options.sizeBytes());
    }

    /**
     * Allocates and registers the buffers.
     *
     * @throws ToolFailure if this fails; the reason has been printed and all memory released
     */
    static RpingBuffers create(ProtectionDomain domain, RpingOptions options, RpingReport report) throws ToolFailure {
        return new RpingBuffers(domain, options, report);
    }

    private MemoryRegion registerRemote(String name, int sizeBytes) throws ToolFailure {
        return register(name, sizeBytes, AccessFlag.LOCAL_WRITE, AccessFlag.REMOTE_READ, AccessFlag.REMOTE_WRITE);
    }

    private MemoryRegion register(String name, int sizeBytes, AccessFlag... access) throws ToolFailure {
        if (sizeBytes < 0) {
            report.error(name + " malloc failed");
            report.explain("the size " + sizeBytes + " is negative; -S takes " + RpingOptions.MINIMUM_SIZE_BYTES
                    + " to " + (RpingOptions.SIZE_LIMIT_BYTES - 1));
            close();
            throw new ToolFailure(-Errno.ENOMEM.number());
        }
        try {
            MemorySegment memory = arena.allocate(Math.max(1, sizeBytes)).asSlice(0, sizeBytes);
            MemoryRegion region = domain.register(memory, access);
            registered.push(region);
            return region;
        } catch (RdmaException e) {
            report.error(name + " reg_mr failed");
            report.explain(e);
            close();
            throw new ToolFailure(e.errno().number());
        }
    }

    /** Returns the buffer for the peer's control messages. */
    MemoryRegion receive() {
        return receive;
    }

    /** Returns the buffer for the control message to send. */
    MemoryRegion send() {
        return send;
    }

    /**
     * Returns the data buffer. A server reads the client's data into it and writes the data back from it; a client
     * receives its data in it.
     */
    MemoryRegion data() {
        return data;
    }

    /** Returns the source buffer of a client's data. */
    MemoryRegion start() {
        return start;
    }

    /** Deregisters and frees the memory. */
    @Override
    public void close() {
        while (!registered.isEmpty()) {
            registered.pop().close();
        }
        arena.close();
    }
}

package io.rdma4j.tools.rping;

import io.rdma4j.verbs.AccessFlag;
import io.rdma4j.verbs.Errno;
import io.rdma4j.verbs.MemoryRegion;
import io.rdma4j.verbs.ProtectionDomain;
import io.rdma4j.verbs.RdmaException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.ArrayDeque;
import java.util.Deque;

/**
 * The registered memory of one connection: a control message each way, the buffer that takes the peer's data, and for a
 * client the buffer that the data come from.
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

    private RpingBuffers(ProtectionDomain domain, RpingOptions options, RpingReport report) throws RpingFailure {
        this.domain = domain;
        this.report = report;
        receive = register("recv_buf", RpingMessage.BYTES, AccessFlag.LOCAL_WRITE);
        send = register("send_buf", RpingMessage.BYTES);
        data = registerRemote("rdma_buf", options.sizeBytes());
        start = options.server() ? data : registerRemote("start_buf", options.sizeBytes());
    }

    /**
     * Allocates and registers.
     *
     * @throws RpingFailure if that cannot be done; the reason has been printed and nothing is left over
     */
    static RpingBuffers create(ProtectionDomain domain, RpingOptions options, RpingReport report) throws RpingFailure {
        return new RpingBuffers(domain, options, report);
    }

    private MemoryRegion registerRemote(String name, int sizeBytes) throws RpingFailure {
        return register(name, sizeBytes, AccessFlag.LOCAL_WRITE, AccessFlag.REMOTE_READ, AccessFlag.REMOTE_WRITE);
    }

    private MemoryRegion register(String name, int sizeBytes, AccessFlag... access) throws RpingFailure {
        if (sizeBytes < 0) {
            report.error(name + " malloc failed");
            report.explain("the size " + sizeBytes + " is negative; -S takes " + RpingOptions.MINIMUM_SIZE_BYTES
                    + " to " + (RpingOptions.SIZE_LIMIT_BYTES - 1));
            close();
            throw new RpingFailure(-Errno.ENOMEM.number());
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
            throw new RpingFailure(e.errno().number());
        }
    }

    /** Where the peer's control messages arrive. */
    MemoryRegion receive() {
        return receive;
    }

    /** The control message to send. */
    MemoryRegion send() {
        return send;
    }

    /** Server: the data read from the client, and written back. Client: where they come back. */
    MemoryRegion data() {
        return data;
    }

    /** Client: where the data come from. */
    MemoryRegion start() {
        return start;
    }

    /** Takes the registrations back and frees the memory. */
    @Override
    public void close() {
        while (!registered.isEmpty()) {
            registered.pop().close();
        }
        arena.close();
    }
}

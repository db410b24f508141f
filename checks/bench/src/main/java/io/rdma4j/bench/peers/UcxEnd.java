package io.rdma4j.bench.peers;

import io.rdma4j.bench.worker.Control;
import io.rdma4j.bench.worker.MissingPeerException;
import io.rdma4j.bench.worker.Parameters;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.Base64;
import org.openucx.jucx.UcxCallback;
import org.openucx.jucx.UcxException;
import org.openucx.jucx.UcxUtils;
import org.openucx.jucx.ucp.UcpContext;
import org.openucx.jucx.ucp.UcpEndpoint;
import org.openucx.jucx.ucp.UcpEndpointParams;
import org.openucx.jucx.ucp.UcpMemory;
import org.openucx.jucx.ucp.UcpParams;
import org.openucx.jucx.ucp.UcpRemoteKey;
import org.openucx.jucx.ucp.UcpRequest;
import org.openucx.jucx.ucp.UcpWorker;
import org.openucx.jucx.ucp.UcpWorkerParams;

/**
 * One end of UCX through JUCX: a worker, an endpoint for the other side, and memory that the other side may access.
 *
 * <p>The environment variable {@code UCX_TLS} selects the transports. Not thread safe. The end is not closed: JUCX
 * rejects most orders of closing its objects, and the process exits anyway.
 */
final class UcxEnd {
    private final UcpWorker worker;
    private final UcpEndpoint endpoint;
    private final ByteBuffer memory;
    private final long address;
    private final UcpRemoteKey remoteKey;
    private final long remoteAddress;
    private int completed;

    private final UcxCallback onDone = new UcxCallback() {
        @Override
        public void onSuccess(UcpRequest request) {
            completed++;
        }

        @Override
        public void onError(int status, String message) {
            throw new UcxException(message + " (" + status + ")");
        }
    };

    UcxEnd(Control control, Parameters parameters) throws MissingPeerException, IOException {
        UcpContext context = open();
        worker = context.newWorker(new UcpWorkerParams());
        int size = parameters.number("size", 64);
        memory = ByteBuffer.allocateDirect(2 * Math.max(8, size));
        address = UcxUtils.getAddress(memory);
        UcpMemory registered = context.registerMemory(memory);
        send(control, worker.getAddress());
        send(control, registered.getRemoteKeyBuffer());
        control.send(address);
        endpoint = worker.newEndpoint(new UcpEndpointParams().setUcpAddress(receive(control)));
        remoteKey = endpoint.unpackRemoteKey(receive(control));
        remoteAddress = control.receive();
    }

    private static UcpContext open() throws MissingPeerException {
        try {
            return new UcpContext(new UcpParams().requestTagFeature().requestRmaFeature());
        } catch (LinkageError | UcxException e) {
            throw new MissingPeerException(
                    "JUCX does not load; it needs UCX 1.12 or 1.13 (the package ucx-utils): " + e);
        }
    }

    private static void send(Control control, ByteBuffer bytes) throws IOException {
        byte[] copy = new byte[bytes.remaining()];
        bytes.duplicate().get(copy);
        control.sendText(Base64.getEncoder().encodeToString(copy));
    }

    private static ByteBuffer receive(Control control) throws IOException {
        byte[] bytes = Base64.getDecoder().decode(control.receiveText());
        return ByteBuffer.allocateDirect(bytes.length).put(bytes).flip();
    }

    /** Returns the memory: messages are sent from the first half and received into the second half. */
    ByteBuffer memory() {
        return memory;
    }

    private int half() {
        return memory.capacity() / 2;
    }

    /** Returns the number of completed requests. */
    int completed() {
        return completed;
    }

    int progress() throws IOException {
        try {
            return worker.progress();
        } catch (Exception e) {
            throw new IOException("UCX: " + e.getMessage(), e);
        }
    }

    void sendTagged(int size) {
        endpoint.sendTaggedNonBlocking(address, size, 1, onDone);
    }

    void receiveTagged(int size) {
        worker.recvTaggedNonBlocking(address + half(), size, 1, -1, onDone);
    }

    void put(int size) {
        endpoint.putNonBlocking(address, size, remoteAddress + half(), remoteKey, onDone);
    }

    void get(int size) {
        endpoint.getNonBlocking(remoteAddress, remoteKey, address + half(), size, onDone);
    }

    /** Waits until {@code count} more requests have completed than the number {@code before}. */
    void await(int before, int count) throws IOException {
        while (completed - before < count) {
            progress();
        }
    }
}

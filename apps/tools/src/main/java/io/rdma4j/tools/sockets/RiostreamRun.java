package io.rdma4j.tools.sockets;

import io.rdma4j.sockets.MappedMemory;
import io.rdma4j.sockets.MessageFlag;
import io.rdma4j.sockets.PollEvents;
import io.rdma4j.sockets.RdmaStreamSocket;
import io.rdma4j.sockets.options.RdmaSocketOptions;
import io.rdma4j.tools.command.ToolEnvironment;
import io.rdma4j.tools.command.ToolFailure;
import io.rdma4j.tools.sockets.StreamToolOptions.Test;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.VarHandle;
import java.net.InetAddress;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.EnumSet;
import java.util.Set;

/**
 * A run of riostream. Each side writes directly into the peer's memory. The peer polls the last byte to detect the
 * arrival of the data. The stream carries only the messages that synchronize the two sides.
 */
final class RiostreamRun extends StreamRun {
    private static final VarHandle BYTE = ValueLayout.JAVA_BYTE.varHandle();

    /** The last byte before a test, which differs from the markers of the first turns. */
    private static final byte NO_MARKER = -1;

    private final ByteBuffer buffer;
    private final MemorySegment memory;
    private final StreamPattern sent = new StreamPattern();
    private final StreamPattern expected = new StreamPattern();
    private final Set<MessageFlag> flags;

    /** Prepares a run. */
    RiostreamRun(String tool, StreamToolOptions options, ToolEnvironment environment) {
        super(tool, options, environment);
        buffer = buffer();
        memory = MemorySegment.ofBuffer(buffer);
        flags = options.isBlocking() ? Set.of() : EnumSet.of(MessageFlag.DONT_WAIT);
    }

    @Override
    TestSocket open(InetAddress address, boolean passive) {
        return new RdmaTestSocket(environment.rdma().openStreamSocket());
    }

    @Override
    boolean bindsClients() {
        return false;
    }

    @Override
    void setToolOptions(TestSocket socket) {
        trySetOption(socket, RdmaSocketOptions.RDMA_IOMAPSIZE, 1);
    }

    @Override
    long measure(TestSocket socket, StreamTest test) throws ToolFailure {
        if (!(socket instanceof RdmaTestSocket(RdmaStreamSocket stream))) {
            throw new IllegalStateException("mapped memory requires an RDMA socket");
        }
        // C permits a test of 0 bytes, and then writes its marker before the start of the buffer.
        int size = Math.max(1, test.sizeBytes());
        BYTE.setVolatile(memory, size - 1L, NO_MARKER);
        try (MappedMemory mapped = get("riomap", () -> stream.map(memory.asSlice(0, size), 0))) {
            synchronize(socket);
            long startNanos = System.nanoTime();
            alternate(stream, test, (int) mapped.memory().byteSize());
            return (System.nanoTime() - startNanos) / 1000;
        }
    }

    private void synchronize(TestSocket socket) throws ToolFailure {
        ByteBuffer message = ByteBuffer.allocate(syncBytes());
        if (options.isServer()) {
            receiveAll(socket, message, syncBytes());
            sendAll(socket, message, syncBytes());
        } else {
            sendAll(socket, message, syncBytes());
            receiveAll(socket, message, syncBytes());
        }
    }

    /**
     * Lets the client and the server write alternately. Each turn uses the next marker, which wraps around after 255.
     */
    private void alternate(RdmaStreamSocket stream, StreamTest test, int size) throws ToolFailure {
        byte marker = 0;
        for (int i = 0; i < test.iterations(); i++) {
            if (options.isServer()) {
                awaitMarker(stream, size, marker++);
                writeTurn(stream, test, size, marker++);
            } else {
                writeTurn(stream, test, size, marker++);
                awaitMarker(stream, size, marker++);
            }
        }
    }

    /** Writes the buffer once for each transfer, the last time with the marker as its last byte. */
    private void writeTurn(RdmaStreamSocket stream, StreamTest test, int size, byte marker) throws ToolFailure {
        for (int t = 0; t < test.transfers() - 1; t++) {
            write(stream, size);
        }
        BYTE.setVolatile(memory, size - 1L, marker);
        if (options.has(Test.VERIFY)) {
            sent.fill(buffer, size - 1);
        }
        write(stream, size);
    }

    private void write(RdmaStreamSocket stream, int size) throws ToolFailure {
        buffer.position(0).limit(size);
        try {
            while (buffer.hasRemaining()) {
                awaitWritable(stream);
                int count = stream.writeMapped(buffer, buffer.position(), flags);
                if (count < 0) {
                    throw unmapped(size);
                }
                pause(count);
            }
        } catch (IOException e) {
            throw failure("riowrite", e);
        } finally {
            buffer.clear();
        }
    }

    private void awaitWritable(RdmaStreamSocket stream) throws IOException {
        if (options.has(Test.ASYNC)) {
            Duration timeout = options.isBlocking() ? null : Duration.ZERO;
            while (stream.await(PollEvents.OUT, timeout) == 0) {
                pause(0);
            }
        }
    }

    private ToolFailure unmapped(int size) {
        report.explain("the peer has not mapped the " + size + " bytes to write. Use the same -S on both sides");
        return new ToolFailure(FAILED);
    }

    /** Waits until the last byte is the marker. Polling the socket also drives the device. */
    private void awaitMarker(RdmaStreamSocket stream, int size, byte marker) throws ToolFailure {
        while ((byte) BYTE.getVolatile(memory, size - 1L) != marker) {
            int ready = get("rpoll", () -> stream.await(PollEvents.IN, Duration.ZERO));
            if ((ready & (PollEvents.ERROR | PollEvents.HANG_UP)) != 0
                    && (byte) BYTE.getVolatile(memory, size - 1L) != marker) {
                throw closedEarly();
            }
            pause(0);
        }
        pause(1);
        if (options.has(Test.VERIFY)) {
            verify(expected, buffer, size - 1);
        }
    }
}

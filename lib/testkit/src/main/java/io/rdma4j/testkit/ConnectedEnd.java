package io.rdma4j.testkit;

import io.rdma4j.Access;
import io.rdma4j.Buffer;
import io.rdma4j.Connection;
import io.rdma4j.Exposed;
import io.rdma4j.verbs.RemoteMemory;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;

/**
 * One end of a {@link ConnectedPair}. Its objects are closed with the pair; a program may close them earlier. Thread
 * safe.
 */
public final class ConnectedEnd {
    /** The memory of each end starts at a page boundary, so that runs with the same seed have the same addresses. */
    private static final int PAGE_BYTES = 4096;

    private final TestHost host;
    private final Connection connection;
    private final Exposed exposed;
    private final Buffer buffer;

    ConnectedEnd(TestHost host, Connection connection, long memoryBytes) {
        this.host = host;
        this.connection = connection;
        MemorySegment memory = Arena.ofAuto().allocate(memoryBytes, PAGE_BYTES);
        exposed = Exposed.of(memory, Access.READ, Access.WRITE, Access.ATOMIC);
        buffer = connection.register(memory);
    }

    /** Returns the host of this end. */
    public TestHost host() {
        return host;
    }

    /** Returns the connection. */
    public Connection connection() {
        return connection;
    }

    /**
     * Returns the memory, which the peer may read, write and change by atomic operations; its bytes are initially zero.
     */
    public MemorySegment memory() {
        return exposed.memory();
    }

    /** Returns the same memory as a buffer for the operations of this end. */
    public Buffer buffer() {
        return buffer;
    }

    /** Returns the same memory in the form that the peer's operations use. */
    public RemoteMemory remote() {
        return exposed.at(connection);
    }

    void close() {
        connection.close();
        exposed.close();
    }

    @Override
    public String toString() {
        return "end of a connection at " + host;
    }
}

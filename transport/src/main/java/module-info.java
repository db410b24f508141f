/**
 * Queue pairs and the InfiniBand connection protocol as state machines without I/O. Packets and the time are passed in;
 * packets, completions and deadlines come out.
 */
@org.jspecify.annotations.NullMarked
module io.rdma4j.transport {
    requires static org.jspecify;
    requires transitive io.rdma4j.wire;

    exports io.rdma4j.transport;
    exports io.rdma4j.transport.cm;
}

/**
 * A virtual network in one process, with a virtual clock and seeded faults; simulations on it; builds with deliberate
 * mistakes.
 */
@org.jspecify.annotations.NullMarked
module io.rdma4j.testkit {
    requires static org.jspecify;
    requires io.rdma4j.wire;
    requires io.rdma4j.transport;
    requires io.rdma4j.link;
    requires transitive io.rdma4j.verbs;
    requires transitive io.rdma4j.cm;
    requires transitive io.rdma4j.soft;
    requires io.rdma4j.sockets;
    requires java.compiler;

    exports io.rdma4j.testkit;
    exports io.rdma4j.testkit.simulation;
    exports io.rdma4j.testkit.variant;
}

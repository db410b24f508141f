/** Seeded runs of random work over a simulated fabric of protocol machines, checked against a model. */
@org.jspecify.annotations.NullMarked
module io.rdma4j.simulator {
    requires static org.jspecify;
    requires transitive io.rdma4j.wire;
    requires transitive io.rdma4j.transport;
    requires io.rdma4j.link;
    requires io.rdma4j.sockets;

    exports io.rdma4j.simulator;
    exports io.rdma4j.simulator.network;
}

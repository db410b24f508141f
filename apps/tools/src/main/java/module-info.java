/** The command-line tools: rping and the other tools of librdmacm, libibverbs and perftest, and tools of rdma4j. */
@org.jspecify.annotations.NullMarked
module io.rdma4j.tools {
    requires static org.jspecify;
    requires transitive io.rdma4j.verbs;
    requires transitive io.rdma4j.cm;
    requires transitive io.rdma4j.soft;
    requires transitive io.rdma4j.sockets;
    requires io.rdma4j.hardware;
    requires io.rdma4j.link;
    requires io.rdma4j.wire;
    requires io.rdma4j.simulator;
    requires jdk.net;

    exports io.rdma4j.tools;
}

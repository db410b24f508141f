/** RDMA sockets: the rsocket protocol of librdmacm, and Java's sockets and channels over it. */
@org.jspecify.annotations.NullMarked
@SuppressWarnings("module") // the simulator is built after this module
module io.rdma4j.sockets {
    requires static org.jspecify;
    requires io.rdma4j.wire;
    requires static jdk.net; // for TCP_KEEPIDLE
    requires static transitive java.instrument; // for the agent, which a virtual machine starts only with this module
    requires transitive io.rdma4j.verbs;
    requires transitive io.rdma4j.cm;
    requires static jdk.unsupported; // sun.reflect.ReflectionFactory: see Platform

    exports io.rdma4j.sockets;
    exports io.rdma4j.sockets.options;
    exports io.rdma4j.sockets.datagram to
            io.rdma4j.simulator;
    exports io.rdma4j.sockets.stream to
            io.rdma4j.simulator;
}

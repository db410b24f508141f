/** Bursts of frames in and out of the process, with wrappers for capture, faults and trace. */
@org.jspecify.annotations.NullMarked
module io.rdma4j.link {
    requires static org.jspecify;
    requires jdk.net;
    requires transitive io.rdma4j.wire;

    exports io.rdma4j.link;
    exports io.rdma4j.link.decorator;
    exports io.rdma4j.link.host;
    exports io.rdma4j.link.memory;
    exports io.rdma4j.link.system;
}

/** Bursts of frames in and out of the process, with wrappers for capture, faults and trace. */
@org.jspecify.annotations.NullMarked
@SuppressWarnings("module") // the modules above, to which packages are exported, are compiled later
module io.rdma4j.link {
    requires static org.jspecify;
    requires jdk.net; // NioLinkSet needs IP_DONTFRAGMENT; from the class path, the rest runs without this module
    requires transitive io.rdma4j.wire;

    exports io.rdma4j.link to
            io.rdma4j.sharing,
            io.rdma4j.simulator,
            io.rdma4j.soft,
            io.rdma4j.testkit,
            io.rdma4j.tools;
    exports io.rdma4j.link.decorator to
            io.rdma4j.sharing,
            io.rdma4j.soft,
            io.rdma4j.testkit,
            io.rdma4j.tools;
    exports io.rdma4j.link.host to
            io.rdma4j.sharing,
            io.rdma4j.soft,
            io.rdma4j.testkit;
    exports io.rdma4j.link.memory to
            io.rdma4j.sharing,
            io.rdma4j.soft,
            io.rdma4j.testkit;
    exports io.rdma4j.link.ring to
            io.rdma4j.simulator;
    exports io.rdma4j.link.system to
            io.rdma4j.sharing,
            io.rdma4j.soft,
            io.rdma4j.tools;
}

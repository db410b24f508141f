/** The verbs API: devices, memory regions, queue pairs and completion queues, and the interface of their providers. */
@org.jspecify.annotations.NullMarked
@SuppressWarnings("module") // the modules above, to which a package is exported, are compiled later
module io.rdma4j.verbs {
    requires static org.jspecify;
    requires transitive io.rdma4j.wire;

    exports io.rdma4j.verbs;
    exports io.rdma4j.verbs.abi to
            io.rdma4j.cm,
            io.rdma4j.exec,
            io.rdma4j.hardware,
            io.rdma4j.soft;
    exports io.rdma4j.verbs.spi to
            io.rdma4j.cm,
            io.rdma4j.exec,
            io.rdma4j.hardware,
            io.rdma4j.soft,
            io.rdma4j.sockets,
            io.rdma4j.tools;
    exports io.rdma4j.verbs.wait;

    uses io.rdma4j.verbs.spi.VerbsProvider;
}

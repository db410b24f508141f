/** The RDMA connection manager API: event channels, identifiers and events, and the interface of its providers. */
@org.jspecify.annotations.NullMarked
@SuppressWarnings("module") // the modules above, to which packages are exported, are compiled later
module io.rdma4j.cm {
    requires static org.jspecify;
    requires transitive io.rdma4j.verbs;

    exports io.rdma4j.cm;
    exports io.rdma4j.cm.abi to
            io.rdma4j.exec,
            io.rdma4j.hardware;
    exports io.rdma4j.cm.spi to
            io.rdma4j.exec,
            io.rdma4j.hardware,
            io.rdma4j.soft,
            io.rdma4j.sockets,
            io.rdma4j.tools;
    exports io.rdma4j.cm.host to
            io.rdma4j.exec,
            io.rdma4j.hardware,
            io.rdma4j.soft,
            io.rdma4j.sockets,
            io.rdma4j.tools;

    uses io.rdma4j.cm.spi.CmProvider;
}

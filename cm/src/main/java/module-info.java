/** The RDMA connection manager API: event channels, identifiers and events, and the interface of its providers. */
@org.jspecify.annotations.NullMarked
module io.rdma4j.cm {
    requires static org.jspecify;
    requires transitive io.rdma4j.verbs;

    exports io.rdma4j.cm;
    exports io.rdma4j.cm.spi;

    uses io.rdma4j.cm.spi.CmProvider;
}

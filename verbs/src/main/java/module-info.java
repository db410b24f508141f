/** The verbs API: devices, memory regions, queue pairs and completion queues, and the interface of their providers. */
@org.jspecify.annotations.NullMarked
module io.rdma4j.verbs {
    requires static org.jspecify;

    exports io.rdma4j.verbs;
    exports io.rdma4j.verbs.spi;
    exports io.rdma4j.verbs.wait;

    uses io.rdma4j.verbs.spi.VerbsProvider;
}

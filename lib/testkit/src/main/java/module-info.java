/** For tests: hosts in one process over a virtual network, in real or virtual time, with seeded faults. */
@org.jspecify.annotations.NullMarked
module io.rdma4j.testkit {
    requires static org.jspecify;
    requires io.rdma4j.wire;
    requires io.rdma4j.link;
    requires io.rdma4j.sharing;
    requires transitive io.rdma4j.verbs;
    requires transitive io.rdma4j.cm;
    requires transitive io.rdma4j.soft;
    requires transitive io.rdma4j;
    requires static org.junit.jupiter.api;

    exports io.rdma4j.testkit;
    exports io.rdma4j.testkit.junit;
}

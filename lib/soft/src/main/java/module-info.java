/** The software RoCEv2 device: its stack provides the threads, the clock and the links for the protocol's state machines. */
@org.jspecify.annotations.NullMarked
@SuppressWarnings("module") // the modules above, to which some packages are exported, are compiled later
module io.rdma4j.soft {
    requires static org.jspecify;
    requires static jdk.jfr;
    requires transitive io.rdma4j.verbs;
    requires transitive io.rdma4j.cm;
    requires io.rdma4j.transport;
    requires io.rdma4j.link;
    requires io.rdma4j.sharing;
    requires io.rdma4j.wire;

    exports io.rdma4j.soft;
    exports io.rdma4j.soft.options to
            io.rdma4j.testkit;
    exports io.rdma4j.soft.device to
            io.rdma4j.testkit;
    exports io.rdma4j.soft.engine to
            io.rdma4j.testkit;
    exports io.rdma4j.soft.host to
            io.rdma4j.testkit;
    exports io.rdma4j.soft.guardian to
            io.rdma4j.tools;
    exports io.rdma4j.soft.process to
            io.rdma4j.tools;
    exports io.rdma4j.soft.report to
            io.rdma4j.tools;
    exports io.rdma4j.soft.warmup to
            io.rdma4j.tools;

    provides io.rdma4j.cm.spi.CmProvider with
            io.rdma4j.soft.process.SoftCmProvider;
    provides io.rdma4j.verbs.spi.VerbsProvider with
            io.rdma4j.soft.process.SoftProvider;
}

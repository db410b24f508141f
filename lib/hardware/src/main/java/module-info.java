/** The RDMA devices of this host: verbs through libibverbs, and the Linux kernel's connection manager. */
@org.jspecify.annotations.NullMarked
@SuppressWarnings("module") // the module above, to which a package is exported, is compiled later
module io.rdma4j.hardware {
    requires static org.jspecify;
    requires transitive io.rdma4j.verbs;
    requires transitive io.rdma4j.cm;

    exports io.rdma4j.hardware.process to
            io.rdma4j.tools;

    provides io.rdma4j.cm.spi.CmProvider with
            io.rdma4j.hardware.cm.KernelCmProvider;
    provides io.rdma4j.verbs.spi.VerbsProvider with
            io.rdma4j.hardware.process.HardwareProvider;
}

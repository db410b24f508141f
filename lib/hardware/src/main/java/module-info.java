/** The RDMA devices of this machine: verbs by libibverbs, and the connection manager of Linux's kernel. */
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

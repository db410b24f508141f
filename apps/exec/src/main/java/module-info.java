/**
 * The Java part of a library that implements libibverbs, and the device file of librdmacm, for C programs. C calls it.
 */
@org.jspecify.annotations.NullMarked
module io.rdma4j.exec {
    requires static org.jspecify;
    requires io.rdma4j.verbs;
    requires io.rdma4j.cm;

    uses io.rdma4j.cm.spi.CmProvider;
    uses io.rdma4j.verbs.spi.VerbsProvider;
}

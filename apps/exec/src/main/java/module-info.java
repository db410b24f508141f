/** The Java part of a library that gives programs in C the devices of rdma4j, by the interface of libibverbs. C calls it. */
@org.jspecify.annotations.NullMarked
module io.rdma4j.exec {
    requires static org.jspecify;
    requires io.rdma4j.verbs;
    requires io.rdma4j.cm;

    uses io.rdma4j.cm.spi.CmProvider;
    uses io.rdma4j.verbs.spi.VerbsProvider;
}

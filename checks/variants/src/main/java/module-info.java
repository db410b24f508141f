/** Builds of the protocol with a deliberate mistake, or with small numbers, for the tests of the simulations. */
@org.jspecify.annotations.NullMarked
module io.rdma4j.variants {
    requires static org.jspecify;
    requires io.rdma4j.simulator;
    requires java.compiler;

    exports io.rdma4j.variants;
}

/**
 * Builds of the rooms that differ from the sources in a few texts: with deliberate mistakes, to see that the simulations
 * find them ({@link io.rdma4j.testkit.variant.Mutants}), or with small numbers, so that they wrap all the time.
 */
@org.jspecify.annotations.NullMarked
package io.rdma4j.testkit.variant;

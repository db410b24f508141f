/**
 * Builds of the modules with small changes to the sources.
 *
 * <p>Some contain a deliberate mistake, to test that the simulations find it
 * ({@link io.rdma4j.acceptance.variants.Mutants}). Others have small numbers, which wrap often.
 */
@org.jspecify.annotations.NullMarked
package io.rdma4j.acceptance.variants;

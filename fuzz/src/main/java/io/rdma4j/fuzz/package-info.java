/**
 * Fuzz targets: what comes from the network or from a caller, made of any bytes, and what must hold whatever they say.
 * {@code fuzz/run} runs them with Jazzer; the module's tests run them over their seeds and over what was once found.
 */
@org.jspecify.annotations.NullMarked
package io.rdma4j.fuzz;

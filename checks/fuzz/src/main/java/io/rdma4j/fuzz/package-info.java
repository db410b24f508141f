/**
 * Fuzz targets for data from the network and for calls of applications, and invariants that hold for any input. {@code
 * checks/fuzz/run} runs them with Jazzer. The module's tests run them with their seeds and with earlier findings.
 */
@org.jspecify.annotations.NullMarked
package io.rdma4j.fuzz;

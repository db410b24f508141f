/** {@code rdma4j sim}: seeded runs of a simulated fabric. */
package io.rdma4j.tools.sim;

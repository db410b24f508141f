/** {@code rdma4j sim}: simulates a fabric in seeded runs. */
package io.rdma4j.tools.sim;

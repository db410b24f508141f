/** A virtual network in one process, with a virtual clock and seeded faults. */
package io.rdma4j.testkit;

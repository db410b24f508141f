/** A virtual network of hosts that consist of protocol machines, with a virtual clock and seeded faults. */
package io.rdma4j.simulator.network;

/** A virtual network of hosts that are made of protocol machines, with a virtual clock and seeded faults. */
package io.rdma4j.simulator.network;

/** Sharing of an address between the processes of a host: run directory, slots, port claims, the port's owner and members. */
package io.rdma4j.sharing;

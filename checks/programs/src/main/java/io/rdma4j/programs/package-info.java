/**
 * Runs programs of others, unmodified, over TCP and over RDMA sockets, and compares them; see {@code checks/programs/run --help}.
 */
@org.jspecify.annotations.NullMarked
package io.rdma4j.programs;

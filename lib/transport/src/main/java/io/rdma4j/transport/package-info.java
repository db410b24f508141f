/**
 * Queue pairs and the InfiniBand connection protocol as state machines without I/O. Packets and the time are passed in;
 * packets, completions and deadlines come out.
 */
package io.rdma4j.transport;

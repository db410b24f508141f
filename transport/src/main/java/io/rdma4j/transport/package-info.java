/** Queue pairs and the InfiniBand connection protocol as state machines without I/O: packets and time go in, packets, completions and deadlines come out. */
package io.rdma4j.transport;

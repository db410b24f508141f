/**
 * Queue pairs and the InfiniBand connection protocol as state machines without I/O (decision 001). Packets and the time
 * are passed in; packets, completions and deadlines come out.
 */
package io.rdma4j.transport;

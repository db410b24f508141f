/**
 * The rsocket protocol of connected streams without I/O: memory, sequence numbers and control words, no queue pair, no
 * thread.
 */
package io.rdma4j.sockets.stream;

/**
 * The rsocket protocol of connected streams without I/O: memory, sequence numbers and control words, but no queue pairs
 * and no threads.
 */
package io.rdma4j.sockets.stream;

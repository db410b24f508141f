/** The rsocket protocol of datagrams without I/O: who is where, headers and slots; no queue pair, no socket, no thread. */
package io.rdma4j.sockets.datagram;

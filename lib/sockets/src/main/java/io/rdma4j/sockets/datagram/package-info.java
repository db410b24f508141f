/** The rsocket protocol of datagrams without I/O: peers, headers and slots; no queue pair, no socket, no thread. */
package io.rdma4j.sockets.datagram;

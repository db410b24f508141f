/** The rsocket protocol of datagrams without I/O: peers, headers and slots, but no queue pairs, sockets or threads. */
package io.rdma4j.sockets.datagram;

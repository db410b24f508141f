/** Codecs of the protocol of RDMA sockets: the rsocket protocol of librdmacm, version 1. */
package io.rdma4j.wire.rsocket;

/** What RDMA sockets say to each other: the rsocket protocol of librdmacm, version 1. */
package io.rdma4j.wire.rsocket;

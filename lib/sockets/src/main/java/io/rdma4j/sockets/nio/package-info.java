/** Channels and the selector over RDMA endpoints, and over TCP if the address rules require it. */
package io.rdma4j.sockets.nio;

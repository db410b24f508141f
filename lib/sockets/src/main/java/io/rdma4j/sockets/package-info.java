/** RDMA sockets for applications: Java's sockets and channels over RDMA, and the calls of rsocket(7). */
package io.rdma4j.sockets;

/** {@code java.net.Socket} and {@code java.net.ServerSocket} over stream endpoints. */
package io.rdma4j.sockets.net;

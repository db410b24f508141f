/** Channels and the selector over RDMA endpoints, with TCP beside them where the rules say so. */
package io.rdma4j.sockets.nio;

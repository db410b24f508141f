/** Asynchronous channels (NIO.2) over the channels and selectors of this library. */
package io.rdma4j.sockets.async;

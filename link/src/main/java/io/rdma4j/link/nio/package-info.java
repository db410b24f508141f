/** The portable link set, on NIO channels; not exported. */
package io.rdma4j.link.nio;

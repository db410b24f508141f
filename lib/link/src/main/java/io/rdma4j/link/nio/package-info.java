/** The portable link set, based on NIO channels. Not exported. */
package io.rdma4j.link.nio;

/**
 * The ping-pongs of libibverbs: SENDs in both directions over queue pairs that are connected without the connection
 * manager.
 */
package io.rdma4j.tools.pingpong;

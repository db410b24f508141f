/** The ping-pongs of libibverbs: SENDs to and fro over queue pairs that are connected without connection manager. */
package io.rdma4j.tools.pingpong;

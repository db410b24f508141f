/**
 * The tools that open connections, or join a group, and exchange messages.
 *
 * <p>They are ucmatose, udaddy, mckey, rdma_client, rdma_server, rdma_xclient and rdma_xserver.
 */
package io.rdma4j.tools.messages;

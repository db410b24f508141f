/**
 * The tools that open connections, or join a group, and exchange messages: ucmatose, udaddy, mckey, rdma_client and
 * rdma_server.
 */
package io.rdma4j.tools.messages;

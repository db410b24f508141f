/** The tools that open many connections, or join a group, and exchange messages: ucmatose, udaddy and mckey. */
package io.rdma4j.tools.messages;

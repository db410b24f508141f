/** The host that a stack runs on: its network interfaces and routes. */
package io.rdma4j.soft.host;

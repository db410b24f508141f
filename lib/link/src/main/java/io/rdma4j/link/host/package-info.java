/** The network interfaces of the host, their addresses and properties, notifications of changes, and the form of addresses in frames. */
package io.rdma4j.link.host;

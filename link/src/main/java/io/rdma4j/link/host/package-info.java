/** The network interfaces of the host: their addresses and properties, and notifications of changes. */
package io.rdma4j.link.host;

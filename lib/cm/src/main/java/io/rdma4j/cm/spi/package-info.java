/**
 * The interfaces that a provider of the connection manager implements, like the Linux kernel below librdmacm
 * (decision 005). The package also has common code of providers and tools, such as the lookup of hosts and services.
 * Exported only to the modules of this project.
 */
package io.rdma4j.cm.spi;

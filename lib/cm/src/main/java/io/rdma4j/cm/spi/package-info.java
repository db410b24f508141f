/**
 * The interfaces that a provider of the connection manager implements, in place of Linux's kernel under librdmacm, and what providers and
 * tools have in common, such as the lookup of hosts and services. Exported to the modules of this project only.
 */
package io.rdma4j.cm.spi;

/** The interfaces that a provider of the connection manager implements, in place of Linux's kernel under librdmacm. */
package io.rdma4j.cm.spi;

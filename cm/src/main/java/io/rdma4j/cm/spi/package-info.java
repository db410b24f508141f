/** What a provider of the connection manager implements: the part that Linux's kernel plays under librdmacm. */
package io.rdma4j.cm.spi;

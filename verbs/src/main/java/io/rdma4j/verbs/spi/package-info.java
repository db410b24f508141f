/** What a provider of devices implements. */
package io.rdma4j.verbs.spi;

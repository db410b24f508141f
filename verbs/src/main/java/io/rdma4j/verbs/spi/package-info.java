/** The interface that providers of devices implement. */
package io.rdma4j.verbs.spi;

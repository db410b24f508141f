/** The interface that providers of devices implement, and what they write completions and check state changes with. */
package io.rdma4j.verbs.spi;

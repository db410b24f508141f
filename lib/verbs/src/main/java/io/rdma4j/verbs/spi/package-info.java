/**
 * The interface that providers of devices implement, and what they have in common: writing completions, checks of arguments and state
 * changes, threads. Exported to the modules of this project only.
 */
package io.rdma4j.verbs.spi;

/**
 * The interface that providers of devices implement, and their common code: writing completions, checking arguments and
 * state changes, threads. Exported only to the modules of this project.
 */
package io.rdma4j.verbs.spi;

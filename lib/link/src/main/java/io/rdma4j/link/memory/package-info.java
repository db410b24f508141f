/** Links within one process, over a network in memory. */
package io.rdma4j.link.memory;

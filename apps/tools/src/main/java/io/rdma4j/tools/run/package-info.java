/** rdma4j run and rdma4j exec: unmodified Java and C programs over RDMA. */
package io.rdma4j.tools.run;

/** rdma4j run: programs that know nothing of RDMA. */
package io.rdma4j.tools.run;

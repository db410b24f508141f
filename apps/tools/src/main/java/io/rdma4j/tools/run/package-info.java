/** rdma4j run and rdma4j exec: programs that know nothing of this project, in Java and in C. */
package io.rdma4j.tools.run;

/** The command-line tools: rping, the other tools of librdmacm and rdma-core, and rdma4j's own. */
package io.rdma4j.tools;

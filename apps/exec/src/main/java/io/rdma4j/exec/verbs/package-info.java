/** The verbs, as C calls them: structures of libibverbs in memory of C become calls of {@code io.rdma4j.verbs}. */
package io.rdma4j.exec.verbs;

/** The verbs for C: translates calls with structures of libibverbs to calls of {@code io.rdma4j.verbs}. */
package io.rdma4j.exec.verbs;

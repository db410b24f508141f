/** The plan: the experiments, their order, and the processes that run them. */
@org.jspecify.annotations.NullMarked
package io.rdma4j.bench.plan;

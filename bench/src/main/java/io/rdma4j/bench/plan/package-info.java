/** What is measured, in which order, and by which processes. */
@org.jspecify.annotations.NullMarked
package io.rdma4j.bench.plan;

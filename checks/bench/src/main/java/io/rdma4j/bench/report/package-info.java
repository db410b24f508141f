/** Evaluation of the figures: statistics, aims, table, JSON and HTML. */
@org.jspecify.annotations.NullMarked
package io.rdma4j.bench.report;

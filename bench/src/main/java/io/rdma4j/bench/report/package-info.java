/** What becomes of figures: statistics, aims, table, JSON, HTML. */
@org.jspecify.annotations.NullMarked
package io.rdma4j.bench.report;

/** Benchmarks; see {@code checks/bench/run --help} and {@code docs/performance.md}. */
@org.jspecify.annotations.NullMarked
package io.rdma4j.bench;

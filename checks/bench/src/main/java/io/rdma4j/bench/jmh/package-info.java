/** JMH benchmarks of parts of the hot path: {@code checks/bench/run --jmh}. */
@org.jspecify.annotations.NullMarked
package io.rdma4j.bench.jmh;

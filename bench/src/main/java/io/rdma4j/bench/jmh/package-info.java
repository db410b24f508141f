/** Parts of the hot path by themselves, with JMH: {@code bench/run --jmh}. */
@org.jspecify.annotations.NullMarked
package io.rdma4j.bench.jmh;

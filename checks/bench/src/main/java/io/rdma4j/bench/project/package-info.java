/** Measurements of this project through its public API. */
@org.jspecify.annotations.NullMarked
package io.rdma4j.bench.project;

/** Measurements of other projects that serve the same purpose. */
@org.jspecify.annotations.NullMarked
package io.rdma4j.bench.peers;

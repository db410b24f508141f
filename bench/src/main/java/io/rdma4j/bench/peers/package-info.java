/** What others offer for the same task. */
@org.jspecify.annotations.NullMarked
package io.rdma4j.bench.peers;

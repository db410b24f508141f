/** The measured processes: their parameters, the connection between them, and their results. */
@org.jspecify.annotations.NullMarked
package io.rdma4j.bench.worker;

/** The processes that are measured: what they are told, how they meet, and what they report. */
@org.jspecify.annotations.NullMarked
package io.rdma4j.bench.worker;

/** The tools of perftest: latency and bandwidth of SEND, RDMA WRITE, RDMA READ and atomic operations. */
package io.rdma4j.tools.perftest;

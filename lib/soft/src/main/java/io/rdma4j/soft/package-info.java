/** The software RoCEv2 device: its stack provides the threads, the clock and the links for the protocol's state machines. */
package io.rdma4j.soft;

/** The software RoCEv2 device: its stack has the threads, the clock and the links under the state machines of the protocol. */
package io.rdma4j.soft;

/** The software RoCEv2 device: the only room with threads and a clock. */
package io.rdma4j.soft;

/** Sending and receiving bursts of frames, with wrappers for capture, faults and trace. */
package io.rdma4j.link;

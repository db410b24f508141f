/** Bursts of frames in and out of the process, with wrappers for capture, faults and trace. */
package io.rdma4j.link;

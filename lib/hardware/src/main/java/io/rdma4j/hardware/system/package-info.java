/** Linux system calls, and waiting for descriptors. */
package io.rdma4j.hardware.system;

/** System calls of Linux, and the memory that they need. */
package io.rdma4j.hardware.system;

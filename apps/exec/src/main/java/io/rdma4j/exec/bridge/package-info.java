/** The Java end of the bridge from the C library: arguments, handles, and descriptors that become readable for events. */
package io.rdma4j.exec.bridge;

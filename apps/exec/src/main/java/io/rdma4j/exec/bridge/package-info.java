/**
 * The Java side of the bridge to the C library: arguments, handles, and descriptors that are readable while there are
 * events.
 */
package io.rdma4j.exec.bridge;

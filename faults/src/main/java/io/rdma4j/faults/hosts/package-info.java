/** Hosts that are network namespaces of this machine, and ways to damage what goes between them. Linux, root. */
@NullMarked
package io.rdma4j.faults.hosts;

import org.jspecify.annotations.NullMarked;

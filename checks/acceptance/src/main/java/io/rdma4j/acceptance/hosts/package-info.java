/** Hosts as network namespaces of this machine, and damage to the traffic between them. Requires Linux and root. */
@NullMarked
package io.rdma4j.acceptance.hosts;

import org.jspecify.annotations.NullMarked;

/**
 * A cable with a memory: a process between two hosts that delays, reorders, repeats, spoils and loses packets, which the
 * kernel's filter cannot all do. Linux, root.
 */
@NullMarked
package io.rdma4j.faults.relay;

import org.jspecify.annotations.NullMarked;

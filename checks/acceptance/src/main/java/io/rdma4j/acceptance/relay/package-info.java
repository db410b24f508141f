/**
 * A relay process between two hosts that delays, reorders, duplicates, corrupts and drops packets. The kernel's filter
 * cannot delay or reorder. Requires Linux and root.
 */
@NullMarked
package io.rdma4j.acceptance.relay;

import org.jspecify.annotations.NullMarked;

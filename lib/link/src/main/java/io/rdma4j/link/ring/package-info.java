/**
 * Rings of frames in memory that two processes of one host share: the layout, the side that writes and the side that reads. The
 * memory comes from a link set. The package makes no system calls.
 */
@NullMarked
package io.rdma4j.link.ring;

import org.jspecify.annotations.NullMarked;

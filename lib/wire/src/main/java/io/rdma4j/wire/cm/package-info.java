/**
 * InfiniBand Communication Management messages, which establish and release connections. They negotiate queue pair
 * numbers, sequence numbers and parameters.
 *
 * <p>A message is a management datagram (MAD) of 256 bytes, a 24-byte {@link io.rdma4j.wire.cm.MadHeader} and a body,
 * carried by one unreliable datagram to queue pair 1 ({@link io.rdma4j.wire.cm.GsiPacket}). Each body is an immutable
 * record ({@link io.rdma4j.wire.cm.CmMessage}). {@link io.rdma4j.wire.cm.CmMad} reads single fields in place, for code
 * that only forwards messages. No bytes from the network make a parser throw: {@link io.rdma4j.wire.cm.CmMad#check}
 * reports errors, and unknown numbers are kept. Source: InfiniBand Architecture volume 1, chapter 12, and annex
 * A11 for {@link io.rdma4j.wire.cm.IpCmHeader}.
 */
package io.rdma4j.wire.cm;

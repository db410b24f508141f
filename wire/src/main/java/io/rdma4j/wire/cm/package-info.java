/**
 * InfiniBand Communication Management messages: how two sides agree on queue pair numbers, sequence numbers and
 * parameters before the first byte of a connection, and how they part.
 *
 * <p>A message is a management datagram (MAD) of 256 bytes, a 24-byte {@link io.rdma4j.wire.cm.MadHeader} and a body,
 * carried by one unreliable datagram to queue pair 1 ({@link io.rdma4j.wire.cm.GsiPacket}). Each body is an immutable
 * record ({@link io.rdma4j.wire.cm.CmMessage}); {@link io.rdma4j.wire.cm.CmMad} reads single fields in place, for those
 * who only forward. What comes from the network never makes a parser throw: {@link io.rdma4j.wire.cm.CmMad#check} says
 * what is wrong, and numbers without a name survive. Source: InfiniBand Architecture volume 1, chapter 12, and annex
 * A11 for {@link io.rdma4j.wire.cm.IpCmHeader}.
 */
package io.rdma4j.wire.cm;

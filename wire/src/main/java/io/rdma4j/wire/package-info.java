/**
 * Codecs of RoCEv2 frames, InfiniBand CM messages and their ICRC: no I/O, no clock, no thread.
 *
 * <p>A {@link io.rdma4j.wire.Frame} is one datagram in memory with the addresses around it. {@link io.rdma4j.wire.Icrc}
 * seals a frame before it is sent and verifies one that came. {@link io.rdma4j.wire.Packet} reads a frame in place: its
 * {@code parse} is the one place where the lengths of untrusted bytes are checked, and after it has said OK no accessor
 * throws. {@link io.rdma4j.wire.Opcode} is the one table that says which headers a packet has.
 *
 * <p>Each header is one type that does both: static accessors and {@code write} work in place, judge nothing and are for
 * the hot path; the record holds one header's values, with {@code parse} and {@code emit}. All of them write every byte
 * of the header, reserved ones as zero, and expect that the header's {@code LENGTH} bytes lie in the segment. Fields are
 * big-endian; the ICRC alone is not. {@link io.rdma4j.wire.Dissector} says in one line what a frame is.
 *
 * <p>Connection management is in {@link io.rdma4j.wire.cm}.
 */
package io.rdma4j.wire;

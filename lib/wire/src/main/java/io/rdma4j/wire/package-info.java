/**
 * Codecs of RoCEv2 frames, InfiniBand CM messages and their ICRC: no I/O, no clock, no thread.
 *
 * <p>A {@link io.rdma4j.wire.Frame} is one datagram in memory with its addresses. {@link io.rdma4j.wire.Icrc} seals a
 * frame before it is sent and verifies a received one. {@link io.rdma4j.wire.Packet} reads a frame in place. Its
 * {@code parse} alone checks the lengths of untrusted bytes, and after it has returned OK, no accessor throws.
 * {@link io.rdma4j.wire.Opcode} is the table of the headers that each packet has.
 *
 * <p>Each header is one type with two interfaces. Static accessors and {@code write} work in place without validation
 * and are for the hot path. The record holds the values of one header and has {@code parse} and {@code emit}. Writers
 * write every byte of the header, reserved ones as zero. All methods expect that the segment holds the {@code LENGTH}
 * bytes of the header. Fields are big-endian, except the ICRC. {@link io.rdma4j.wire.dissector.Dissector} describes a frame in
 * one line.
 *
 * <p>Connection management is in {@code io.rdma4j.wire.cm}.
 */
package io.rdma4j.wire;

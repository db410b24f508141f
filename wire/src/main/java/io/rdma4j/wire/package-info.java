/** Codecs of RoCEv2 frames, InfiniBand CM messages and their ICRC: no I/O, no clock, no thread. */
package io.rdma4j.wire;

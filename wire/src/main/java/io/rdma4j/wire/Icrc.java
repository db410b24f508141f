package io.rdma4j.wire;

/** Invariant CRC of RoCEv2 packets. */
public final class Icrc {
    private Icrc() {}
}

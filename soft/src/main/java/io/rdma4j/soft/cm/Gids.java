package io.rdma4j.soft.cm;

import io.rdma4j.verbs.Gid;

/** Converts addresses between the API's type and that of the protocol machine. */
final class Gids {
    private Gids() {}

    static Gid toVerbs(io.rdma4j.wire.Gid gid) {
        return new Gid(gid.high(), gid.low());
    }

    static io.rdma4j.wire.Gid toWire(Gid gid) {
        return new io.rdma4j.wire.Gid(gid.high(), gid.low());
    }
}

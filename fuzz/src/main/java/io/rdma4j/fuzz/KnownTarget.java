package io.rdma4j.fuzz;

import io.rdma4j.soft.engine.RelayTarget;
import java.util.function.Supplier;

/** All targets, under the names by which {@code fuzz/run --target} knows them. */
public enum KnownTarget {
    /** Decoding of packets. */
    F1(PacketTarget::new),
    /** Responder of a reliable connection. */
    F2(ResponderTarget::new),
    /** Requester of a reliable connection. */
    F3(RequesterTarget::new),
    /** Messages of connection management. */
    F4(ManagementTarget::new),
    /** Messages of RDMA sockets. */
    F5(SocketTarget::new),
    /** Calls of the verbs. */
    F7(VerbsTarget::new),
    /** Command lines, options and texts. */
    F8(TextTarget::new),
    /** Messages between processes of a host. */
    F9(RelayTarget::new);

    @SuppressWarnings("ImmutableEnumChecker") // a constructor
    private final Supplier<FuzzTarget> make;

    KnownTarget(Supplier<FuzzTarget> make) {
        this.make = make;
    }

    /** A new target of this kind. */
    public FuzzTarget make() {
        return make.get();
    }
}

package io.rdma4j.fuzz;

import io.rdma4j.sharing.RelayTarget;
import java.util.function.Supplier;

/** All targets, by their names for {@code checks/fuzz/run --target}. */
public enum KnownTarget {
    /** Decoding of packets. */
    F1(PacketTarget::new),
    /** The responder of a reliable connection. */
    F2(ResponderTarget::new),
    /** The requester of a reliable connection. */
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
    F9(RelayTarget::new),
    /** Rings in memory that processes of a host share. */
    F10(RingTarget::new);

    @SuppressWarnings("ImmutableEnumChecker") // a constructor reference
    private final Supplier<FuzzTarget> create;

    KnownTarget(Supplier<FuzzTarget> create) {
        this.create = create;
    }

    /** Creates a target of this kind. */
    public FuzzTarget create() {
        return create.get();
    }
}

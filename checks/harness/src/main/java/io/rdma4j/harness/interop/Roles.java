package io.rdma4j.harness.interop;

import java.util.List;
import java.util.stream.Stream;

/**
 * The sides of a server and its client.
 *
 * @param server the server's side
 * @param client the client's side
 */
record Roles(Side server, Side client) {
    /** Java and the guest, in both roles. */
    static final List<Roles> JAVA_AND_C = both(Side.HOST, Side.LINUX);

    /** C by {@code rdma4j exec} and the guest, in both roles. */
    static final List<Roles> EXEC_AND_C = both(Side.EXEC, Side.LINUX);

    /** Two processes of one host. */
    static final Roles NEAR = new Roles(Side.NEAR, Side.NEAR);

    /** A server on another host. */
    static final Roles FAR_SERVER = new Roles(Side.FAR, Side.NEAR);

    /** A client on another host. */
    static final Roles FAR_CLIENT = new Roles(Side.NEAR, Side.FAR);

    /** Returns two sides in both roles. */
    static List<Roles> both(Side one, Side other) {
        return List.of(new Roles(one, other), new Roles(other, one));
    }

    boolean has(Side side) {
        return server == side || client == side;
    }

    /** Returns whether the cases with these roles need the guest. */
    boolean needsGuest() {
        return Stream.of(server, client).noneMatch(side -> side == Side.NEAR || side == Side.FAR);
    }
}

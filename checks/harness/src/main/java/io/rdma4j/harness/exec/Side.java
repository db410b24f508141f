package io.rdma4j.harness.exec;

import java.util.Locale;

/** One of the two hosts. */
enum Side {
    /** The host of servers. */
    SERVER,
    /** The host of clients. */
    CLIENT;

    /** Returns the other host. */
    Side other() {
        return this == SERVER ? CLIENT : SERVER;
    }

    @Override
    public String toString() {
        return name().toLowerCase(Locale.ROOT);
    }
}

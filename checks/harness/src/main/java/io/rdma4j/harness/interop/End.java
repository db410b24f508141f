package io.rdma4j.harness.interop;

import java.util.Locale;

/** One of the two processes of a connection. */
enum End {
    /** The process that listens. */
    SERVER,
    /** The process that connects. */
    CLIENT;

    /** Returns the other one. */
    End other() {
        return this == SERVER ? CLIENT : SERVER;
    }

    /** Returns its label. */
    @Override
    public String toString() {
        return name().toLowerCase(Locale.ROOT);
    }
}

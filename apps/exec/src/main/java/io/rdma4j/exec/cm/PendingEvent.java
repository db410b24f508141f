package io.rdma4j.exec.cm;

import io.rdma4j.cm.CmEvent;
import org.jspecify.annotations.Nullable;

/**
 * An event that the program has not taken.
 *
 * @param owner the identifier that counts the event; for a connection request, the listener
 * @param child the new identifier of a connection request, otherwise null
 * @param membership the membership that an event of a multicast group belongs to, otherwise null
 * @param uid the program's number of the identifier or of the membership
 * @param number the number of the identifier, of the child or of the membership
 */
record PendingEvent(
        Identifier owner,
        @Nullable Identifier child,
        @Nullable Membership membership,
        long uid,
        int number,
        CmEvent event) {
    boolean isRequest() {
        return event instanceof CmEvent.ConnectRequest;
    }
}

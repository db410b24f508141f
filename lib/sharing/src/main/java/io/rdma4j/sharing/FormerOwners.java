package io.rdma4j.sharing;

import java.util.ArrayList;
import java.util.List;

/**
 * The channels to owners of a port that were replaced because they sent no heartbeats. A stopped process may be killed, or
 * continue and report that it has resigned.
 */
final class FormerOwners {
    private final HostPort port;
    private final List<MemberLink> channels = new ArrayList<>();

    FormerOwners(HostPort port) {
        this.port = port;
    }

    void add(MemberLink former) {
        channels.add(former);
    }

    boolean isEmpty() {
        return channels.isEmpty();
    }

    /** Receives their messages, and reports those that have exited; returns the number of messages and exits. */
    int receive() {
        int received = 0;
        for (int i = channels.size() - 1; i >= 0; i--) {
            MemberLink former = channels.get(i);
            received += former.receiveFromFormerOwner();
            if (former.hasEnded()) {
                channels.remove(i);
                former.close();
                received++;
                if (former.isResigned()) {
                    port.onFormerOwnerResigned();
                } else {
                    port.claimInput(); // the sockets of the process are closed
                    port.onProcessExited(former.ownerSlot());
                    port.onCrashDisconnects(former.crashDisconnects());
                }
            }
        }
        return received;
    }
}

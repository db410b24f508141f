package io.rdma4j.soft.gsi;

import io.rdma4j.link.Link;
import io.rdma4j.link.ReceiveBurst;
import io.rdma4j.soft.engine.DrivenQueuePair;
import io.rdma4j.soft.engine.Receiver;
import java.util.Arrays;

/**
 * A multicast group that this process receives on one network interface. Used under the engine lock.
 *
 * <p>It holds the attached queue pairs, and the link, which also makes the host a member.
 */
public final class MulticastGroup {
    private final MulticastGroups groups;
    final MulticastGroups.Key key;
    final Link link;

    /** Replaced when it changes, never modified. */
    private DrivenQueuePair[] attached = {};

    int holders;
    int idleCycles;

    MulticastGroup(MulticastGroups groups, MulticastGroups.Key key, Link link) {
        this.groups = groups;
        this.key = key;
        this.link = link;
    }

    /** Releases the result of {@link MulticastGroups#hold}. The last release ends the membership. */
    public void release() {
        groups.release(this);
    }

    /** Delivers the group's datagrams to a queue pair, until {@link #detach}. */
    public void attach(DrivenQueuePair queuePair) {
        DrivenQueuePair[] more = Arrays.copyOf(attached, attached.length + 1);
        more[attached.length] = queuePair;
        attached = more;
    }

    /** Stops the delivery to a queue pair. */
    public void detach(DrivenQueuePair queuePair) {
        attached = Arrays.stream(attached).filter(each -> each != queuePair).toArray(DrivenQueuePair[]::new);
    }

    /** Returns the number of attached queue pairs. */
    public int size() {
        return attached.length;
    }

    /** Receives a burst; returns the number of frames. */
    int receive(long nowNanos, ReceiveBurst burst, Receiver receiver) {
        int received = link.poll(burst);
        for (int i = 0; i < received; i++) {
            receiver.onGroupFrame(nowNanos, attached, burst.frame(i));
        }
        idleCycles = received == 0 ? idleCycles + 1 : 0;
        return received;
    }

    @Override
    public String toString() {
        return "group " + key;
    }
}

package io.rdma4j.soft.engine;

import io.rdma4j.link.Link;
import io.rdma4j.link.ReceiveBurst;
import java.util.Arrays;

/**
 * A multicast group on one network interface, as long as this process receives it: the link that is the host's membership
 * too, and the queue pairs that are attached. All under the engine lock.
 */
public final class MulticastGroup {
    private final MulticastGroups groups;
    final MulticastGroups.Key key;
    final Link link;

    /** Replaced, never changed. */
    private DrivenQueuePair[] attached = {};

    int holders;
    int idleCycles;

    MulticastGroup(MulticastGroups groups, MulticastGroups.Key key, Link link) {
        this.groups = groups;
        this.key = key;
        this.link = link;
    }

    /** Gives up what {@link MulticastGroups#hold} gave; the last one ends the membership. */
    public void release() {
        groups.release(this);
    }

    /** Lets a queue pair have what comes, until {@link #detach}. */
    public void attach(DrivenQueuePair queuePair) {
        DrivenQueuePair[] more = Arrays.copyOf(attached, attached.length + 1);
        more[attached.length] = queuePair;
        attached = more;
    }

    /** Takes {@link #attach} back. */
    public void detach(DrivenQueuePair queuePair) {
        attached = Arrays.stream(attached).filter(each -> each != queuePair).toArray(DrivenQueuePair[]::new);
    }

    /** Number of queue pairs attached. */
    public int size() {
        return attached.length;
    }

    DrivenQueuePair attached(int index) {
        return attached[index];
    }

    /** Takes a burst of what has arrived; returns the number of frames. */
    int receive(long nowNanos, ReceiveBurst burst, Receiver receiver) {
        int taken = link.poll(burst);
        for (int i = 0; i < taken; i++) {
            receiver.onGroupFrame(nowNanos, this, burst.frame(i));
        }
        idleCycles = taken == 0 ? idleCycles + 1 : 0;
        return taken;
    }

    @Override
    public String toString() {
        return "group " + key;
    }
}

package io.rdma4j;

import io.rdma4j.cm.CmId;
import io.rdma4j.cm.EventChannel;
import io.rdma4j.value.Gid;
import io.rdma4j.verbs.QueuePair;
import io.rdma4j.verbs.RdmaException;
import java.net.InetAddress;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** The membership of a datagram socket in a multicast group: {@link Datagrams#join(InetAddress)}. Thread safe. */
public final class Membership implements AutoCloseable {
    private final EventChannel channel;
    private final CmId id;
    private final Destination group;
    private final @Nullable QueuePair attached;
    private final Set<Membership> open;

    /**
     * Attaches a queue pair to a group that an identifier has joined.
     *
     * @param attached the queue pair, or null for a send-only membership
     * @param open the memberships of the socket that are not closed, to which this one is added
     */
    Membership(EventChannel channel, CmId id, Destination group, @Nullable QueuePair attached, Set<Membership> open) {
        this.channel = channel;
        this.id = id;
        this.group = group;
        this.attached = attached;
        this.open = open;
        if (attached != null) {
            attached.attachMulticast(gid());
        }
        open.add(this);
    }

    private Gid gid() {
        return group.path().destination();
    }

    /** Returns the destination of datagrams for all members. */
    public Destination group() {
        return group;
    }

    /** Leaves the group. Closing again has no effect. */
    @Override
    public void close() {
        if (open.remove(this)) {
            Cleanup.runAll(List.of(this::detach, id::close, channel::close));
        }
    }

    private void detach() {
        if (attached != null) {
            try {
                attached.detachMulticast(gid());
            } catch (RdmaException closedBefore) {
                return; // a queue pair that is destroyed leaves its groups
            }
        }
    }

    @Override
    public String toString() {
        return "membership in " + gid();
    }
}

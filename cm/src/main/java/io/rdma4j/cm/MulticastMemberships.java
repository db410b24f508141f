package io.rdma4j.cm;

import io.rdma4j.cm.spi.ProviderCmId;
import io.rdma4j.cm.spi.ProviderEvent;
import io.rdma4j.verbs.Errno;
import io.rdma4j.verbs.Gid;
import io.rdma4j.verbs.InterruptedRdmaException;
import io.rdma4j.verbs.QueuePair;
import io.rdma4j.verbs.RdmaException;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * The multicast groups that an identifier has joined. As in librdmacm, the identifier's queue pair is attached when the
 * event of a join is taken, and detached when the group is left. Guarded by the identifier's lock.
 */
final class MulticastMemberships {
    private static final String LEAVE = "rdma_leave_multicast";

    /** One join, which the provider identifies by this object. */
    private static final class Membership {
        private final MulticastJoinAttributes attributes;
        private final @Nullable Object context;

        /** The GID that the provider mapped the group to. */
        private Gid groupGid = Gid.ZERO;

        /** The queue pair attached to the group, or null. */
        private @Nullable QueuePair attached;

        Membership(MulticastJoinAttributes attributes, @Nullable Object context) {
            this.attributes = attributes;
            this.context = context;
        }

        @Override
        public String toString() {
            return attributes.groupText();
        }
    }

    private final CmId id;
    private final List<Membership> joined = new ArrayList<>();

    MulticastMemberships(CmId id) {
        this.id = id;
    }

    /** Implements {@link CmId#joinMulticast(MulticastJoinAttributes, Object)}. */
    void join(String operation, MulticastJoinAttributes attributes, @Nullable Object context) {
        id.locked(operation, () -> {
            ProviderCmId provider = id.binding.required(operation, CmId.RESOLVE_FIRST);
            Membership membership = new Membership(attributes, context);
            joined.add(membership);
            try {
                provider.joinMulticast(attributes, membership);
            } catch (RdmaException refused) {
                joined.remove(membership);
                throw refused;
            }
        });
        id.events.complete(operation);
    }

    /**
     * Implements {@link CmId#leaveMulticast(java.net.InetAddress)}. Waits for the acknowledgements without holding the
     * lock.
     */
    void leave(MulticastJoinAttributes group) {
        Membership left;
        id.lock().lock();
        try {
            id.requireOpen(LEAVE);
            left = find(group);
            joined.remove(left);
            id.binding.required(LEAVE, CmId.RESOLVE_FIRST).leaveMulticast(left);
            detach(left);
        } finally {
            id.lock().unlock();
        }
        // The event that a synchronous join stored in the identifier is one of the group's events.
        id.events.acknowledgeStored();
        if (!id.events.awaitAcknowledgements(taken -> taken.event().membership() == left)) {
            throw new InterruptedRdmaException(LEAVE, "events of the group are not acknowledged yet", "");
        }
    }

    private Membership find(MulticastJoinAttributes group) {
        for (Membership each : joined) {
            if (each.attributes.isSameGroup(group)) {
                return each;
            }
        }
        throw new RdmaException(
                LEAVE,
                Errno.EADDRNOTAVAIL,
                "the identifier has not joined the group " + group.groupText(),
                "Leave it by the address that it was joined by");
    }

    private void detach(Membership membership) {
        QueuePair queuePair = membership.attached;
        if (queuePair == null || !queuePair.equals(id.queuePair()) || isAttachedByAnother(membership)) {
            return;
        }
        try {
            queuePair.detachMulticast(membership.groupGid);
        } catch (RdmaException detachedAlready) {
            // The application has detached it. As in C, leaving does not fail.
            return;
        }
    }

    /** The group may have been joined twice; the queue pair then stays attached until it is left twice. */
    private boolean isAttachedByAnother(Membership membership) {
        for (Membership each : joined) {
            if (Objects.equals(each.attached, membership.attached) && each.groupGid.equals(membership.groupGid)) {
                return true;
            }
        }
        return false;
    }

    /**
     * Performs the library's part of a join event. Returns null to discard the event, since the group was left before.
     */
    @Nullable
    CmEvent onJoin(EventChannel.Pending pending) {
        id.lock().lock();
        try {
            ProviderEvent event = pending.event();
            for (Membership each : joined) {
                if (each == event.membership()) {
                    DatagramParameters group = event.datagram();
                    return group == null
                            ? new CmEvent(pending)
                            : attach(pending, each, group.addressVector().destination());
                }
            }
            return null;
        } finally {
            id.lock().unlock();
        }
    }

    private CmEvent attach(EventChannel.Pending pending, Membership membership, Gid group) {
        membership.groupGid = group;
        QueuePair current = id.queuePair();
        if (current == null || membership.attributes.flag() != MulticastJoinFlag.FULL_MEMBER) {
            return new CmEvent(pending);
        }
        try {
            current.attachMulticast(group);
            membership.attached = current;
            return new CmEvent(pending);
        } catch (RdmaException failed) {
            String text = "the group " + membership + " is joined, but the queue pair could not be attached to it: "
                    + failed.getMessage();
            ProviderEvent error =
                    ProviderEvent.notJoined(membership, -failed.errno().number(), text);
            return new CmEvent(pending, error.type(), error);
        }
    }

    /** Returns the context passed to the join of a multicast event; null for other events. */
    static @Nullable Object contextOf(ProviderEvent event) {
        return event.membership() instanceof Membership membership ? membership.context : null;
    }
}

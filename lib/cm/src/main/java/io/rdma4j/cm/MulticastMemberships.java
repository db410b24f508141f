package io.rdma4j.cm;

import io.rdma4j.cm.spi.ProviderCmId;
import io.rdma4j.value.Gid;
import io.rdma4j.verbs.Errno;
import io.rdma4j.verbs.InterruptedRdmaException;
import io.rdma4j.verbs.QueuePair;
import io.rdma4j.verbs.RdmaException;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * The multicast groups that an identifier has joined. Like in librdmacm, the identifier's queue pair is attached when
 * the event of a join is taken, and detached when the group is left. Guarded by the identifier's lock.
 */
final class MulticastMemberships {
    private static final String LEAVE = "rdma_leave_multicast";

    /** One join. The provider uses this object to identify it. */
    private static final class Membership {
        private final MulticastJoinAttributes attributes;
        private final @Nullable Object context;

        /** The GID to which the provider mapped the group. */
        private Gid groupGid = Gid.ZERO;

        /** The queue pair that is attached to the group, or null. */
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
        if (!id.events.awaitAcknowledgements(taken -> isOf(taken, left))) {
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
                "Leave it by the address with which it was joined");
    }

    private void detach(Membership membership) {
        QueuePair queuePair = membership.attached;
        if (queuePair == null || !queuePair.equals(id.queuePair()) || isAttachedByAnother(membership)) {
            return;
        }
        try {
            queuePair.detachMulticast(membership.groupGid);
        } catch (RdmaException detachedAlready) {
            // The application has detached it. Leaving does not fail, like in C.
            return;
        }
    }

    /** Returns whether another join needs the attachment: a group may be joined twice, and must then be left twice. */
    private boolean isAttachedByAnother(Membership membership) {
        for (Membership each : joined) {
            if (Objects.equals(each.attached, membership.attached) && each.groupGid.equals(membership.groupGid)) {
                return true;
            }
        }
        return false;
    }

    private static boolean isOf(CmEvent event, Membership membership) {
        return event instanceof CmEvent.MulticastJoin join && join.membership() == membership
                || event instanceof CmEvent.MulticastError error && error.membership() == membership;
    }

    /** Returns whether a group is joined. If the group was left, its event is discarded. */
    boolean isJoined(Object membership) {
        id.lock().lock();
        try {
            return membership instanceof Membership known && joined.contains(known);
        } finally {
            id.lock().unlock();
        }
    }

    /**
     * Performs the library's part of a join event. Returns null to discard the event if the group was left before.
     */
    @Nullable
    CmEvent onJoin(CmEvent.MulticastJoin event) {
        id.lock().lock();
        try {
            return event.membership() instanceof Membership known && joined.contains(known)
                    ? attach(event, known)
                    : null;
        } finally {
            id.lock().unlock();
        }
    }

    private CmEvent attach(CmEvent.MulticastJoin event, Membership membership) {
        Gid group = event.group().addressVector().destination();
        membership.groupGid = group;
        QueuePair current = id.queuePair();
        if (current == null || membership.attributes.flag() != MulticastJoinFlag.FULL_MEMBER) {
            return event;
        }
        try {
            current.attachMulticast(group);
            membership.attached = current;
            return event;
        } catch (RdmaException failed) {
            String text = "the group " + membership + " is joined, but the queue pair could not be attached to it: "
                    + failed.getMessage();
            return new CmEvent.MulticastError(membership, -failed.errno().number(), text).inPlaceOf(event);
        }
    }

    /** Returns the context that the program passed to a join. An object of another class is itself the context. */
    static @Nullable Object contextOf(Object membership) {
        return membership instanceof Membership known ? known.context : membership;
    }
}

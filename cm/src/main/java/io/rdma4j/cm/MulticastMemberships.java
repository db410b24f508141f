package io.rdma4j.cm;

import io.rdma4j.cm.spi.ProviderCmId;
import io.rdma4j.cm.spi.ProviderEvent;
import io.rdma4j.verbs.Errno;
import io.rdma4j.verbs.Gid;
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
        private final AcknowledgementCount count;

        /** The GID that the provider mapped the group to. */
        private Gid groupGid = Gid.ZERO;

        /** The queue pair attached to the group, or null. */
        private @Nullable QueuePair attached;

        Membership(MulticastJoinAttributes attributes, @Nullable Object context, AcknowledgementCount count) {
            this.attributes = attributes;
            this.context = context;
            this.count = count;
        }

        @Override
        public String toString() {
            return attributes.groupText();
        }
    }

    private final IdCore core;
    private final List<Membership> joined = new ArrayList<>();

    MulticastMemberships(IdCore core) {
        this.core = core;
    }

    /** Implements {@link CmId#joinMulticast(MulticastJoinAttributes, Object)}. */
    void join(String operation, MulticastJoinAttributes attributes, @Nullable Object context) {
        core.locked(operation, () -> {
            ProviderCmId provider = core.binding().required(operation, IdCore.RESOLVE_FIRST);
            Membership membership =
                    new Membership(attributes, context, core.count().newChild());
            joined.add(membership);
            try {
                provider.joinMulticast(attributes, membership);
            } catch (RdmaException refused) {
                joined.remove(membership);
                throw refused;
            }
        });
        core.complete(operation);
    }

    /**
     * Implements {@link CmId#leaveMulticast(java.net.InetAddress)}. Waits for the acknowledgements without holding the
     * lock.
     */
    void leave(MulticastJoinAttributes group) {
        List<Membership> left = new ArrayList<>();
        core.locked(LEAVE, () -> {
            Membership membership = find(group);
            joined.remove(membership);
            left.add(membership);
            core.binding().required(LEAVE, IdCore.RESOLVE_FIRST).leaveMulticast(membership);
            detach(membership);
        });
        // The event that a synchronous join stored in the identifier is one of the group's events.
        core.acknowledgeEvent();
        if (!left.getFirst().count.awaitAll()) {
            throw new RdmaException(LEAVE, Errno.EINTR, "events of the group are not acknowledged yet", "");
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
        IdQueuePair current = core.queuePair();
        if (queuePair == null
                || current == null
                || !current.queuePair().equals(queuePair)
                || isAttachedByAnother(membership)) {
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
    CmEvent process(CmId id, ProviderEvent providerEvent) {
        Membership membership = joined.stream()
                .filter(each -> each == providerEvent.membership())
                .findFirst()
                .orElse(null);
        if (membership == null) {
            return null;
        }
        membership.count.taken();
        DatagramParameters group = providerEvent.datagram();
        if (group == null) {
            return CmEvent.ofGroup(id, providerEvent, membership.context, membership.count);
        }
        try {
            attach(membership, group.addressVector().destination());
            return CmEvent.ofGroup(id, providerEvent, membership.context, membership.count);
        } catch (RdmaException failed) {
            String text = "the group " + membership + " is joined, but the queue pair could not be attached to it: "
                    + failed.getMessage();
            ProviderEvent error =
                    ProviderEvent.notJoined(membership, -failed.errno().number(), text);
            return CmEvent.ofGroup(id, error, membership.context, membership.count);
        }
    }

    private void attach(Membership membership, Gid group) {
        membership.groupGid = group;
        IdQueuePair current = core.queuePair();
        if (current != null && membership.attributes.flag() == MulticastJoinFlag.FULL_MEMBER) {
            current.queuePair().attachMulticast(group);
            membership.attached = current.queuePair();
        }
    }
}

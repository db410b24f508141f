package io.rdma4j.hardware.cm;

import io.rdma4j.cm.CmEvent;
import io.rdma4j.cm.MulticastJoinAttributes;
import io.rdma4j.value.Gid;
import io.rdma4j.verbs.Errno;
import io.rdma4j.verbs.RdmaException;
import java.net.InetSocketAddress;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.function.Consumer;

/** The multicast groups that one identifier has joined. Calls come from one thread at a time. */
final class KernelGroups {
    /**
     * A join in the kernel.
     *
     * @param uid the number of its events
     * @param id the kernel's number of the membership
     */
    private record Join(long uid, int id) {}

    private final KernelCm kernel;
    private final IdCommands commands;
    private final Consumer<CmEvent> events;

    /** The joins by their membership objects. Most identifiers have none, and share an immutable empty map. */
    private Map<Object, Join> joined = Map.of();

    /**
     * Creates the groups of an identifier.
     *
     * @param events receives the events of joins, under the event lock
     */
    KernelGroups(KernelCm kernel, IdCommands commands, Consumer<CmEvent> events) {
        this.kernel = kernel;
        this.commands = commands;
        this.events = events;
    }

    /**
     * Joins a group.
     *
     * @param isInfiniBand true if the port is in an InfiniBand subnet, where a GID may name a group; on other ports a
     *     GID is an IP address
     */
    void join(MulticastJoinAttributes wanted, boolean isInfiniBand, Object membership) {
        long uid = kernel.nextUid();
        kernel.add(uid, event -> onEvent(event, wanted, membership));
        try {
            Gid group = wanted.group();
            int id = isInfiniBand && !wanted.mapped()
                    ? commands.join(uid, group, wanted.flag())
                    : commands.join(uid, new InetSocketAddress(group.toInetAddress(), 0), wanted.flag());
            if (joined.isEmpty()) {
                joined = new LinkedHashMap<>();
            }
            joined.put(membership, new Join(uid, id));
        } catch (RdmaException refused) {
            kernel.remove(uid);
            throw refused;
        }
    }

    private void onEvent(KernelEvent event, MulticastJoinAttributes wanted, Object membership) {
        if (event.type() == CmEvent.Type.MULTICAST_JOIN && event.status() == 0) {
            events.accept(new CmEvent.MulticastJoin(membership, event.datagram(true)));
            return;
        }
        // If the kernel finds no path to a group that it has joined, the status stays 0.
        int status = event.status() == 0 ? -Errno.EINVAL.number() : event.status();
        String explanation = "the group " + wanted.groupText() + " could not be joined: " + CmFailures.errno(status);
        events.accept(new CmEvent.MulticastError(membership, status, explanation));
    }

    void leave(Object membership) {
        Join join = joined.isEmpty() ? null : joined.remove(membership);
        if (join != null) {
            kernel.remove(join.uid());
            commands.leave(join.id());
        }
    }

    /** Stops the events of all groups. The kernel leaves the groups when the identifier is destroyed. */
    void close() {
        joined.values().forEach(join -> kernel.remove(join.uid()));
        joined = Map.of();
    }
}

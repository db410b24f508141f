package io.rdma4j.exec.cm;

import io.rdma4j.cm.spi.CmProvider;
import io.rdma4j.exec.bridge.Guardian;
import io.rdma4j.exec.bridge.Readiness.Descriptors;
import io.rdma4j.verbs.Errno;
import io.rdma4j.verbs.RdmaException;
import java.net.InetAddress;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Consumer;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/** The device file of the connection manager: the state that its open files share. Thread safe. */
final class CmFiles {
    private final CmProvider provider;
    private final @Nullable Predicate<InetAddress> allowed;
    private final Descriptors descriptors;
    private final AtomicBoolean isGuarded = new AtomicBoolean();

    // Guarded by this.
    private final NumberTable<Identifier> identifiers = new NumberTable<>();
    private final NumberTable<Membership> memberships = new NumberTable<>();

    /**
     * Creates the device file of a provider.
     *
     * @param allowed returns whether the user allows the device of a local address; null if all devices are allowed
     * @param descriptors makes the descriptors of open files readable
     */
    CmFiles(CmProvider provider, @Nullable Predicate<InetAddress> allowed, Descriptors descriptors) {
        this.provider = provider;
        this.allowed = allowed;
        this.descriptors = descriptors;
    }

    CmProvider provider() {
        return provider;
    }

    /** Starts the guardian of the program before its first connection or listener. */
    void guard() {
        if (!isGuarded.getAndSet(true)) {
            Guardian.start(provider.connectionsFile());
        }
    }

    /** Returns whether the user allows the device of a local address. */
    boolean allows(InetAddress local) {
        return allowed == null || allowed.test(local);
    }

    /** Returns whether the user allows all devices. */
    boolean areAllAllowed() {
        return allowed == null;
    }

    /** Opens the file. */
    CmFile open(int descriptor) {
        return new CmFile(this, descriptor, descriptors);
    }

    /** Closes a file, and destroys its identifiers. */
    void close(CmFile file) {
        synchronized (this) {
            file.close();
        }
        while (true) {
            Identifier first;
            synchronized (this) {
                if (file.identifiers().isEmpty()) {
                    return;
                }
                first = file.identifiers().iterator().next();
                identifiers.remove(first.number(), first);
            }
            destroy(first);
        }
    }

    // ---- identifiers

    /** Adds an identifier to its file, and assigns a number to it. */
    synchronized void add(Identifier created) {
        created.number(identifiers.add(created));
        created.file().add(created);
    }

    /**
     * Returns an identifier of a file by its number.
     *
     * @throws RdmaException {@code ENOENT} if there is none; {@code EINVAL} if it belongs to another file
     */
    synchronized Identifier identifier(CmFile file, int number) {
        return ofFile(file, identifiers.find(number), number);
    }

    private static Identifier ofFile(CmFile file, @Nullable Identifier found, int number) {
        if (found == null) {
            throw new RdmaException("rdma_ucm", Errno.ENOENT, "number " + number + " does not exist", "");
        }
        if (found.file() != file) {
            throw Request.invalid("number " + number + " belongs to another file");
        }
        return found;
    }

    /**
     * Removes the number of an identifier, so that no new command finds it.
     *
     * @throws RdmaException like {@link #identifier}
     */
    synchronized Identifier hide(CmFile file, int number) {
        Identifier found = identifier(file, number);
        identifiers.remove(number, found);
        return found;
    }

    /**
     * Destroys an identifier that no longer has a number, and removes its events. Rejects connection requests that the
     * program has not taken.
     *
     * @return the number of its events that the program has taken
     */
    int destroy(Identifier hidden) {
        synchronized (hidden.commandLock) {
            hidden.provider().close();
        }
        List<PendingEvent> removed;
        int reported;
        synchronized (this) {
            removed = hidden.file().remove(event -> event.owner() == hidden);
            hidden.file().remove(hidden);
            hidden.memberships().forEach(each -> memberships.remove(each.number(), each));
            hidden.memberships().clear();
            reported = hidden.eventsReported();
        }
        for (PendingEvent event : removed) {
            Identifier child = event.child();
            if (child != null && take(child)) {
                destroy(child);
            }
        }
        return reported;
    }

    /**
     * Removes the identifier and the event of a connection request, unless the program has taken the event.
     *
     * @return false if the program has taken the event
     */
    synchronized boolean discard(Identifier child) {
        boolean isRemoved = child.file().removeRequest(child) && take(child);
        if (isRemoved) {
            child.file().remove(child);
        }
        return isRemoved;
    }

    private synchronized boolean take(Identifier child) {
        return identifiers.remove(child.number(), child);
    }

    /**
     * Moves an identifier to another file, with its events and the identifiers of its connection requests.
     *
     * @return the number of its events that the program has taken
     */
    synchronized int migrate(CmFile from, int number, CmFile to) {
        Identifier moved = identifier(from, number);
        move(moved, to);
        for (PendingEvent event : from.remove(event -> event.owner() == moved)) {
            Identifier child = event.child();
            if (child != null) {
                move(child, to);
            }
            to.add(event);
        }
        return moved.eventsReported();
    }

    private static void move(Identifier moved, CmFile to) {
        moved.file().remove(moved);
        to.add(moved);
        moved.file(to);
    }

    // ---- events

    /**
     * Takes the oldest event of a file.
     *
     * @param writer copies the event to the program before the event is removed
     * @return false if there is none
     */
    boolean takeEvent(CmFile file, Consumer<PendingEvent> writer) {
        PendingEvent event;
        synchronized (this) {
            event = file.first();
            if (event == null) {
                file.expect();
                return false;
            }
            writer.accept(event);
            file.removeFirst();
            event.owner().countReported();
            Membership membership = event.membership();
            if (membership != null) {
                membership.eventsReported++;
            }
        }
        Identifier child = event.child();
        if (child != null) {
            child.provider().onRequestTaken();
        }
        return true;
    }

    // ---- groups

    /** Adds a membership, and assigns a number to it. */
    synchronized void add(Membership joined) {
        joined.number(memberships.add(joined));
        joined.owner.memberships().add(joined);
    }

    /**
     * Removes a membership by its number.
     *
     * @throws RdmaException {@code ENOENT} if there is none; {@code EINVAL} if it belongs to another file
     */
    synchronized Membership removeMembership(CmFile file, int number) {
        Membership found = memberships.find(number);
        ofFile(file, found == null ? null : found.owner, number);
        Membership left = Objects.requireNonNull(found);
        forget(left);
        return left;
    }

    /** Removes a membership. */
    synchronized void forget(Membership left) {
        memberships.remove(left.number(), left);
        left.owner.memberships().remove(left);
    }

    /** Removes the events of a membership, and returns the number of events that the program has taken. */
    synchronized int cleanEvents(Membership left) {
        left.owner.file().remove(event -> event.membership() == left);
        return left.eventsReported;
    }
}

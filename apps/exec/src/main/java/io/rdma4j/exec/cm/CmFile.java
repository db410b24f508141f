package io.rdma4j.exec.cm;

import io.rdma4j.exec.bridge.Readiness.Descriptors;
import io.rdma4j.verbs.wait.WaitDriver;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.Iterator;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/**
 * An open device file with its identifiers and pending events. The kernel's counterpart is {@code struct ucma_file}.
 * The descriptor is readable while there is an event. Guarded by the lock of {@link CmFiles}.
 */
final class CmFile {
    final CmFiles files;
    private final int descriptor;
    private final Descriptors descriptors;
    private final ArrayDeque<PendingEvent> events = new ArrayDeque<>();
    private final Set<Identifier> identifiers = new LinkedHashSet<>();

    /** The identifiers that have sent their peer a request, and have received no event since. */
    private final Set<Identifier> awaiting = new HashSet<>();

    /** The driver of the device while the program may wait for an answer; otherwise null. */
    private @Nullable WaitDriver driving;

    private boolean readable;
    private boolean closed;

    CmFile(CmFiles files, int descriptor, Descriptors descriptors) {
        this.files = files;
        this.descriptor = descriptor;
        this.descriptors = descriptors;
    }

    Set<Identifier> identifiers() {
        return identifiers;
    }

    /** Adds an identifier. */
    void add(Identifier created) {
        identifiers.add(created);
    }

    /** Removes an identifier that is destroyed or moved. */
    void remove(Identifier gone) {
        identifiers.remove(gone);
        endExpecting(gone);
    }

    /** Notes that an identifier sends its peer a request. */
    void beginExpecting(Identifier asking) {
        awaiting.add(asking);
    }

    /** Notes that an identifier has received an event, or that it could not send its request. */
    void endExpecting(Identifier asking) {
        if (awaiting.remove(asking) && awaiting.isEmpty()) {
            endDriving();
        }
    }

    /**
     * Notes that the program has found no event, and is therefore likely to wait for one. If it has sent a request, the
     * device drives itself until the descriptor is readable, because C does not call it meanwhile. It does not drive
     * itself for a listener, which may wait long, because that would slow down threads that poll.
     */
    void expect() {
        WaitDriver driver = files.provider().waitDriver();
        if (driving == null && !awaiting.isEmpty() && !closed && driver != null) {
            driver.beginOutsideWait();
            driving = driver;
        }
    }

    private void endDriving() {
        WaitDriver driver = driving;
        if (driver != null) {
            driving = null;
            driver.endOutsideWait();
        }
    }

    /** Adds an event at the end. */
    void add(PendingEvent event) {
        events.add(event);
        update();
    }

    /** Returns the oldest event, or null. */
    @Nullable
    PendingEvent first() {
        return events.peek();
    }

    /** Removes the oldest event. */
    void removeFirst() {
        events.remove();
        update();
    }

    /** Removes the event of a connection request by its identifier. Returns false if there is none. */
    boolean removeRequest(Identifier child) {
        for (Iterator<PendingEvent> each = events.iterator(); each.hasNext(); ) {
            if (each.next().child() == child) {
                each.remove();
                update();
                return true;
            }
        }
        return false;
    }

    /** Removes the events that match, and returns them in order. */
    List<PendingEvent> remove(Predicate<PendingEvent> matching) {
        List<PendingEvent> removed = new ArrayList<>();
        for (Iterator<PendingEvent> each = events.iterator(); each.hasNext(); ) {
            PendingEvent event = each.next();
            if (matching.test(event)) {
                each.remove();
                removed.add(event);
            }
        }
        update();
        return removed;
    }

    /** Stops using the descriptor. Its number may be reused for another file. */
    void close() {
        closed = true;
        endDriving();
    }

    boolean isClosed() {
        return closed;
    }

    private void update() {
        boolean now = !events.isEmpty();
        if (now == readable || closed) {
            return;
        }
        readable = now;
        if (now) {
            endDriving();
            descriptors.raise(descriptor);
        } else {
            descriptors.lower(descriptor);
        }
    }
}

package io.rdma4j.exec.cm;

import io.rdma4j.exec.bridge.Readiness.Descriptors;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/**
 * An open device file, with its identifiers and the events that wait in it. The kernel's counterpart is {@code struct
 * ucma_file}. The descriptor is readable while there is an event. Guarded by the lock of {@link CmFiles}.
 */
final class CmFile {
    final CmFiles files;
    private final int descriptor;
    private final Descriptors descriptors;
    private final ArrayDeque<PendingEvent> events = new ArrayDeque<>();
    private final Set<Identifier> identifiers = new LinkedHashSet<>();
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

    /** Stops using the descriptor, whose number another file may get. */
    void close() {
        closed = true;
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
            descriptors.raise(descriptor);
        } else {
            descriptors.lower(descriptor);
        }
    }
}

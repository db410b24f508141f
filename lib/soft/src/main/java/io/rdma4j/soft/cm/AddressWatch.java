package io.rdma4j.soft.cm;

import io.rdma4j.verbs.spi.SharedThread;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Informs listeners on a wildcard address of new addresses. Thread safe.
 *
 * <p>A thread scans every few seconds while there is such a listener. There is no thread if the host's addresses cannot
 * change while the stack uses them.
 */
final class AddressWatch {
    private static final long INTERVAL_MILLIS = 3_000;

    private final List<Listening> wildcards = new ArrayList<>();
    private final boolean canChange;
    private @Nullable Thread thread;

    AddressWatch(boolean canChange) {
        this.canChange = canChange;
    }

    /** Adds a listener. */
    synchronized void add(Listening listening) {
        wildcards.add(listening);
        if (thread == null && canChange) {
            thread = SharedThread.start("rdma4j-addresses", this::sleepAndScan);
        }
    }

    /** Stops informing a listener. */
    synchronized void remove(Listening listening) {
        wildcards.remove(listening);
        if (wildcards.isEmpty() && thread != null) {
            thread.interrupt();
            thread = null;
        }
    }

    /** Scans for new addresses; returns false if there are no listeners. */
    boolean scan() {
        List<Listening> all;
        synchronized (this) {
            all = List.copyOf(wildcards);
        }
        all.forEach(Listening::serveNewAddresses);
        return !all.isEmpty();
    }

    private boolean sleepAndScan() throws InterruptedException {
        Thread.sleep(INTERVAL_MILLIS);
        return scan();
    }
}

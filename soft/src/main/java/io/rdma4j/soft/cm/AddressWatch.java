package io.rdma4j.soft.cm;

import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Lets listeners on a wildcard know of addresses that came later. Looks every few seconds, and only while there is such a
 * listener. Thread safe.
 */
final class AddressWatch {
    private static final long INTERVAL_MILLIS = 3_000;

    private final List<Listening> wildcards = new ArrayList<>();
    private @Nullable Thread thread;

    /** Keeps a listener informed. */
    synchronized void add(Listening listening) {
        wildcards.add(listening);
        if (thread == null) {
            Thread started = new Thread(this::run, "rdma4j-addresses");
            started.setDaemon(true);
            started.start();
            thread = started;
        }
    }

    /** Informs a listener no more. */
    synchronized void remove(Listening listening) {
        wildcards.remove(listening);
        if (wildcards.isEmpty() && thread != null) {
            thread.interrupt();
            thread = null;
        }
    }

    /** Looks for new addresses; false if nobody wants to know of any. */
    boolean look() {
        List<Listening> all;
        synchronized (this) {
            all = List.copyOf(wildcards);
        }
        all.forEach(Listening::serveNewAddresses);
        return !all.isEmpty();
    }

    private void run() {
        try {
            do {
                Thread.sleep(INTERVAL_MILLIS);
            } while (look());
        } catch (InterruptedException over) {
            Thread.currentThread().interrupt();
        }
    }
}

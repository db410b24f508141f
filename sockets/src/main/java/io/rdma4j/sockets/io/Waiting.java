package io.rdma4j.sockets.io;

/** Waits of a thread for an endpoint. */
final class Waiting {
    /** The time a thread polls before it sleeps. */
    private static final long SPIN_NANOS = 10_000;

    private Waiting() {}

    /**
     * Waits until an endpoint is ready for something.
     *
     * @param waiters the list that the endpoint signals
     * @param wanted a set of {@link Readiness}; hang-up and errors always end the wait
     * @param deadlineNanos a time of {@link System#nanoTime}, or {@link Long#MAX_VALUE} to wait indefinitely
     * @return the readiness of the endpoint, or 0 if the deadline has passed or the thread is interrupted (its flag stays set)
     */
    static int await(Waitable endpoint, WaitList waiters, int wanted, long deadlineNanos) {
        int ends = wanted | Readiness.HANG_UP | Readiness.ERROR;
        long spinUntil = System.nanoTime() + SPIN_NANOS;
        do {
            int ready = endpoint.readiness() & ends;
            if (ready != 0) {
                return ready;
            }
        } while (endpoint.hub() != null && System.nanoTime() - spinUntil < 0);
        SocketWaiter waiter = new SocketWaiter();
        waiters.add(waiter);
        try {
            while (true) {
                waiter.reset();
                int ready = endpoint.knownReadiness() & ends;
                if (ready == 0) {
                    ready = endpoint.readinessToWait() & ends;
                }
                if (ready != 0 || SocketWaiter.isOver(deadlineNanos)) {
                    return ready;
                }
                CompletionHub hub = endpoint.hub();
                if (hub == null) {
                    waiter.park(deadlineNanos);
                } else {
                    hub.await(waiter, deadlineNanos);
                }
            }
        } finally {
            waiters.remove(waiter);
        }
    }
}

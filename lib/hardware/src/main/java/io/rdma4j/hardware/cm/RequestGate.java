package io.rdma4j.hardware.cm;

import io.rdma4j.cm.ConnectionAttempt;
import io.rdma4j.value.PortSpace;
import io.rdma4j.verbs.Device;
import io.rdma4j.verbs.spi.DeviceChoice;
import io.rdma4j.verbs.spi.SharedThread;
import java.net.InetSocketAddress;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Predicate;

/**
 * Decides which requests of a listener the application sees. It checks the user's choice of devices, the application's
 * filter, and the number of requests that the application has not taken yet.
 *
 * <p>The kernel's backlog counts a request only until its event is read, and this process reads events immediately. The
 * backlog therefore limits bursts, and this class limits the requests that wait for the application.
 */
final class RequestGate {
    /** The kernel's default for the largest backlog. */
    private static final int MAX_WAITING = 1024;

    private final PortSpace portSpace;
    private final AtomicInteger waiting = new AtomicInteger();
    private volatile Predicate<ConnectionAttempt> filter = attempt -> true;
    private volatile DeviceChoice choice = new DeviceChoice(null);

    RequestGate(PortSpace portSpace) {
        this.portSpace = portSpace;
    }

    void filter(Predicate<ConnectionAttempt> chosen) {
        filter = chosen;
    }

    /**
     * Prepares for requests.
     *
     * @param isWildcard true if the listener's address means all devices; the user may have chosen some of them
     */
    void open(boolean isWildcard) {
        choice = isWildcard ? DeviceChoice.current() : new DeviceChoice(null);
    }

    /** Returns whether the application sees a request. If so, the request counts until {@link #release}. */
    boolean admits(KernelCmId request) {
        Device device = request.device();
        InetSocketAddress peer = request.peerAddress();
        InetSocketAddress local = request.localAddress();
        if (device == null || peer == null || local == null || !choice.allows(device)) {
            return false;
        }
        if (!mayConnect(new ConnectionAttempt(peer, local, portSpace))) {
            return false;
        }
        if (waiting.incrementAndGet() > MAX_WAITING) {
            waiting.decrementAndGet();
            return false;
        }
        return true;
    }

    private boolean mayConnect(ConnectionAttempt attempt) {
        try {
            return filter.test(attempt);
        } catch (RuntimeException | Error failure) {
            SharedThread.report(RequestGate.class, "the access filter failed for " + attempt + ": rejected", failure);
            return false;
        }
    }

    /** Stops counting a request. */
    void release() {
        waiting.decrementAndGet();
    }
}

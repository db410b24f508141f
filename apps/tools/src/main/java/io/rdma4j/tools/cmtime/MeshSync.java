package io.rdma4j.tools.cmtime;

import io.rdma4j.tools.command.ReceiveTimeout;
import java.net.Inet6Address;
import java.net.InetSocketAddress;
import java.net.UnknownHostException;
import java.util.Locale;
import java.util.Objects;

/** Synchronizes an instance with its own connections and with the other instances. */
final class MeshSync {
    private final MeshContext context;
    private final OutOfBand outOfBand;

    MeshSync(MeshContext context, OutOfBand outOfBand) {
        this.context = context;
        this.outOfBand = outOfBand;
    }

    /**
     * Returns the time that another instance may take for a step that this one has completed. It may have many more
     * connections.
     */
    long longTimeoutNanos() {
        return 3 * new ReceiveTimeout().nanos();
    }

    /** Waits until all instances have reached a barrier. */
    void barrier(Barrier barrier) throws CmtimeFailure {
        // Before CONNECTED, each instance prepares its own number of queue pairs. Afterwards all have the same amount
        // of work.
        boolean same = barrier == Barrier.CONNECTED || barrier == Barrier.DISCONNECTED;
        outOfBand.sync(barrier, same ? longTimeoutNanos() : Long.MAX_VALUE);
    }

    /** Allows the other instances to exit after the next step. */
    void allowExit() {
        outOfBand.allowExit();
    }

    /** Waits until all connections of this instance have completed a step. */
    void await(Step step, int count) throws CmtimeFailure {
        ReceiveTimeout timeout = new ReceiveTimeout();
        if (!context.progress.await(step, count, timeout.nanos())) {
            context.progress.fail(() -> context.report.explain(String.format(
                    Locale.ROOT,
                    "%d of %d connections have completed the step '%s', and no other within %d s. Start all instances"
                            + " with the same -c and -P",
                    context.progress.count(step),
                    count,
                    step.text(),
                    timeout.seconds())));
            throw new CmtimeFailure();
        }
    }

    /**
     * Returns a server's address with the scope of this host, because the scope of a link-local address is local to a
     * host.
     */
    InetSocketAddress reachable(PeerRecord server) {
        InetSocketAddress address = Objects.requireNonNull(server.address());
        if (!address.getAddress().isLinkLocalAddress()
                || !(address.getAddress() instanceof Inet6Address)
                || !(context.source.getAddress() instanceof Inet6Address local)) {
            return address;
        }
        try {
            return new InetSocketAddress(
                    Inet6Address.getByAddress(null, address.getAddress().getAddress(), local.getScopeId()),
                    address.getPort());
        } catch (UnknownHostException impossible) {
            throw new IllegalStateException("an IPv6 address has 16 bytes", impossible);
        }
    }
}

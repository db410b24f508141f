package io.rdma4j.tools.cmtime;

import io.rdma4j.tools.messages.Patience;
import java.net.Inet6Address;
import java.net.InetSocketAddress;
import java.net.UnknownHostException;
import java.util.Locale;
import java.util.Objects;

/** Keeps an instance in step with its own connections and with the other instances. */
final class MeshSync {
    private final MeshContext context;
    private final OutOfBand outOfBand;

    MeshSync(MeshContext context, OutOfBand outOfBand) {
        this.context = context;
        this.outOfBand = outOfBand;
    }

    /** How long an instance may need for a step that this one has done: it may have many more connections. */
    long longPatienceNanos() {
        return 3 * new Patience().nanos();
    }

    /** Waits until all instances have come to a barrier. */
    void barrier(Barrier barrier) throws CmtimeFailure {
        // Before connecting each prepares as many queue pairs as it likes; afterwards all do the same.
        boolean same = barrier == Barrier.CONNECTED || barrier == Barrier.DISCONNECTED;
        outOfBand.sync(barrier, same ? longPatienceNanos() : Long.MAX_VALUE);
    }

    /** From now on instances may end when they have passed the next step. */
    void ending() {
        outOfBand.ending();
    }

    /** Waits until all own connections have done a step. */
    void await(Step step, int count) throws CmtimeFailure {
        Patience patience = new Patience();
        if (!context.progress.await(step, count, patience.nanos())) {
            context.progress.fail(() -> context.report.explain(String.format(
                    Locale.ROOT,
                    "%d of %d connections have done the step '%s', and then nothing came for %d s. Start all instances"
                            + " with the same -c and -P",
                    context.progress.count(step),
                    count,
                    step.text(),
                    patience.seconds())));
            throw new CmtimeFailure();
        }
    }

    /** A server's address as this host must write it: the scope of a link-local address is each host's own. */
    InetSocketAddress reachable(PeerRecord server) {
        InetSocketAddress address = Objects.requireNonNull(server.address());
        if (!address.getAddress().isLinkLocalAddress()
                || !(address.getAddress() instanceof Inet6Address)
                || !(context.source.getAddress() instanceof Inet6Address own)) {
            return address;
        }
        try {
            return new InetSocketAddress(
                    Inet6Address.getByAddress(null, address.getAddress().getAddress(), own.getScopeId()),
                    address.getPort());
        } catch (UnknownHostException impossible) {
            throw new IllegalStateException("an IPv6 address has 16 bytes", impossible);
        }
    }
}

package io.rdma4j.sharing;

import io.rdma4j.sharing.PortRole.Member;
import io.rdma4j.sharing.PortRole.Owner;

/**
 * Watches the owner of a port: requests heartbeats from it, and causes its replacement if there are none. In an owner
 * that has replaced another one, it keeps the input of the port instead.
 *
 * <p>It counts requests without an answer, not time: if this process itself was stopped, the answers have arrived.
 */
final class OwnerWatch {
    /** The interval between requests. Each costs a wake-up of the owner and two of this process, even if neither has work. */
    private static final long INTERVAL_NANOS = 750_000_000;

    /** The interval after an unanswered request, and at which a successor keeps its input. */
    private static final long SHORT_INTERVAL_NANOS = 450_000_000;

    /** The number of unanswered requests after which an owner is replaced: it was silent for 1.2 to 2 s. */
    private static final int MAX_UNANSWERED = 2;

    private final PortEngine engine;
    private final HostPort port;
    private final PortEngine.Timer timer;

    OwnerWatch(PortEngine engine, HostPort port) {
        this.engine = engine;
        this.port = port;
        timer = engine.timer(this::onDeadline);
    }

    /** Starts watching if this kind of link set can replace an owner, or the former owner may have ended together with others. */
    void start() {
        if (isNeeded()) {
            timer.set(engine.nowNanos() + INTERVAL_NANOS);
        }
    }

    private boolean isNeeded() {
        return engine.links().opensBeside()
                || port.role() instanceof Owner && port.siblings().hasUnconfirmed();
    }

    private void onDeadline(long nowNanos) {
        long interval = SHORT_INTERVAL_NANOS;
        if (port.role() instanceof Member member && member.owner().unansweredPings() >= MAX_UNANSWERED) {
            port.replaceSilentOwner(member);
        }
        switch (port.role()) {
            case Member member -> {
                if (member.owner().unansweredPings() == 0) {
                    interval = INTERVAL_NANOS;
                }
                member.owner().ping();
            }
            case Owner owner -> {
                port.claimInput();
                owner.members().reportLost();
                if (!isNeeded()) {
                    return;
                }
            }
            case PortRole.Ownerless _, PortRole.NotOpen _ -> {
                return; // started again when there is an owner
            }
        }
        timer.set(nowNanos + interval);
    }
}

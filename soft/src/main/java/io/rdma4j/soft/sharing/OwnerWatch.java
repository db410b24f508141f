package io.rdma4j.soft.sharing;

import io.rdma4j.soft.engine.DeadlineTask;
import io.rdma4j.soft.engine.Engine;

/**
 * Watches the owner of a port: asks it for signs of life, and has it replaced if there are none. In an owner that has
 * replaced another one, it keeps the input of the port instead.
 *
 * <p>It counts questions without an answer, not time: when this process was stopped itself, the answers are there.
 */
final class OwnerWatch extends DeadlineTask {
    private static final long INTERVAL_NANOS = 400_000_000;

    /** The number of unanswered questions after which an owner is replaced: it was silent for 1.2 to 1.6 s. */
    private static final int MOST_UNANSWERED = 3;

    private final Engine engine;
    private final SharedPort port;

    OwnerWatch(Engine engine, SharedPort port) {
        this.engine = engine;
        this.port = port;
    }

    /** Begins to watch, if this kind of link set can replace an owner. */
    void start() {
        if (engine.links().opensBeside()) {
            engine.schedule(this, engine.nowNanos() + INTERVAL_NANOS);
        }
    }

    @Override
    protected void onDeadline(long nowNanos) {
        PortMember member = port.member();
        if (member != null && member.unansweredPings() >= MOST_UNANSWERED) {
            port.replaceSilentOwner();
            member = port.member();
        }
        if (member != null) {
            member.ping();
        } else if (port.isOwner()) {
            port.keepTaken();
        } else {
            return; // started again when there is an owner
        }
        engine.schedule(this, nowNanos + INTERVAL_NANOS);
    }
}

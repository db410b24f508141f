package io.rdma4j.testkit.simulation;

import io.rdma4j.testkit.SimulatedHost;
import io.rdma4j.transport.cm.CmConnection;
import io.rdma4j.transport.cm.CmEvents;
import io.rdma4j.transport.cm.CmState;
import io.rdma4j.wire.cm.PrivateData;
import io.rdma4j.wire.cm.Rej;
import io.rdma4j.wire.cm.RejectReason;
import io.rdma4j.wire.cm.Rep;
import io.rdma4j.wire.cm.Req;
import java.util.SplittableRandom;
import org.jspecify.annotations.Nullable;

/**
 * One end of a connection that communication managers make: an application that owns a side of it and drives it as the
 * events of its connection tell. It sees to it that each event comes once, and in a state in which it makes sense.
 */
final class ConnectionEnd implements CmEvents {
    private static final int REJECTED_REPLIES = 30;
    private static final long MOST_PATIENCE_NANOS = 3_000_000_000L;

    final ConnectedSide side;
    private final SimulatedConnection attempt;
    private final SplittableRandom random;
    private final long patienceNanos;
    private @Nullable CmConnection connection;
    private @Nullable Req request;
    private long answerAtNanos = Long.MAX_VALUE;
    private long aloneSinceNanos = -1;
    private boolean started;
    private boolean ended;

    ConnectionEnd(SimulatedConnection attempt, ConnectedSide side, SplittableRandom random) {
        this.attempt = attempt;
        this.side = side;
        this.random = random;
        patienceNanos = random.nextLong(MOST_PATIENCE_NANOS);
    }

    SimulatedHost host() {
        return side.host();
    }

    /** Whether the connection is established, or was. */
    boolean isStarted() {
        return started;
    }

    /** Whether the application has given the connection up, or was told that it is over. */
    boolean isEnded() {
        return ended;
    }

    /** Whether nothing is left to happen to it. */
    boolean isOver() {
        return side.isDead() || ended && side.isGone() && (connection == null || connection.state() == CmState.IDLE);
    }

    // ---- active

    /** Asks the peer's host for a connection. */
    void connect(CmConnection made) {
        connection = made;
    }

    @Override
    public void onReply(CmConnection made, Rep reply) {
        attempt.note(side.name() + " gets the reply");
        require(!started && !ended, "a reply for a connection that has one or is over");
        if (random.nextInt(REJECTED_REPLIES) == 0) {
            made.reject(attempt.nowNanos(), RejectReason.CONSUMER_DEFINED, PrivateData.EMPTY);
            end("takes the request back");
            return;
        }
        ConnectionTerms peer = new ConnectionTerms(
                made.route().remote().high(),
                made.route().remote().low(),
                reply.queuePair(made.request()),
                reply.startingPsn(),
                reply.responderResources());
        side.ready(peer, attempt.withoutName(reply.privateData()), attempt.mtuBytes());
        made.sendReadyToUse(attempt.nowNanos());
        start();
    }

    // ---- passive

    /** Takes a request, which is answered now or later. */
    void onRequest(CmConnection made, Req asked, long thinkNanos) {
        connection = made;
        request = asked;
        if (thinkNanos == 0) {
            answer();
        } else {
            answerAtNanos = attempt.nowNanos() + thinkNanos;
        }
    }

    private void answer() {
        answerAtNanos = Long.MAX_VALUE;
        CmConnection made = connection;
        Req asked = request;
        if (made == null || asked == null || ended) {
            return;
        }
        ConnectionTerms peer = new ConnectionTerms(
                made.route().remote().high(),
                made.route().remote().low(),
                asked.localQueuePair(),
                asked.startingPsn(),
                asked.responderResources());
        side.ready(peer, attempt.withoutName(asked.privateData()), SimulatedConnection.mtuBytes(asked.pathMtu()));
        made.accept(attempt.nowNanos(), attempt.reply(side, asked));
    }

    @Override
    public void onReadyToUse(CmConnection made) {
        attempt.note(side.name() + " is established");
        require(!started && !ended, "established twice, or after the end");
        start();
    }

    private void start() {
        started = true;
        side.start();
    }

    // ---- the end

    @Override
    public void onReject(CmConnection made, Rej reject) {
        require(!ended, "a reject after the end");
        over("is rejected, " + RejectReason.describe(reject.reason()));
    }

    @Override
    public void onUnreachable(CmConnection made) {
        require(!ended && !started, "unreachable after the end, or established");
        over("finds the peer unreachable");
    }

    @Override
    public void onDisconnectRequest(CmConnection made) {
        require(!ended, "asked to disconnect after the end");
        require(started, "asked to disconnect before it is established");
        over("is asked to disconnect");
        made.disconnect(attempt.nowNanos());
    }

    @Override
    public void onDisconnected(CmConnection made, boolean timedOut) {
        require(ended, "disconnected without having asked for it");
        attempt.note(side.name() + (timedOut ? " hears nothing of its disconnect" : " is disconnected"));
    }

    @Override
    public void onTimewaitExit(CmConnection made) {
        require(ended, "the time-wait of a connection in use is over");
    }

    private void over(String why) {
        attempt.note(side.name() + " " + why);
        ended = true;
        side.end();
    }

    /** The application has had enough. */
    void end(String why) {
        if (ended) {
            return;
        }
        over(why);
        CmConnection made = connection;
        if (made == null) {
            return;
        }
        switch (made.state()) {
            case ESTABLISHED -> {
                if (random.nextBoolean()) {
                    made.disconnect(attempt.nowNanos());
                } else {
                    made.destroy(attempt.nowNanos());
                }
            }
            case IDLE, TIMEWAIT -> {}
            default -> made.destroy(attempt.nowNanos());
        }
    }

    /** The host has crashed. */
    void die() {
        ended = true;
        side.die();
    }

    // ---- the application

    /** Does some of what there is to do. */
    void work(@Nullable ConnectionEnd peer) {
        long now = attempt.nowNanos();
        if (side.isDead() || host().isPaused()) {
            return;
        }
        if (answerAtNanos <= now) {
            answer();
        }
        if (!started && side.hasHeard() && connection != null) {
            connection.notifyCommunicationEstablished();
        }
        side.work(now);
        if (started && !ended) {
            lookAround(now, peer);
        }
    }

    /** A peer that is gone without a word is waited for with some patience, as by a keep-alive. */
    private void lookAround(long now, @Nullable ConnectionEnd peer) {
        boolean isAlone = peer == null || peer.isEnded();
        if (!isAlone) {
            aloneSinceNanos = -1;
        } else if (aloneSinceNanos < 0) {
            aloneSinceNanos = now;
        }
        if (side.wantsToEnd()) {
            end("ends it");
        } else if (isAlone && now - aloneSinceNanos > patienceNanos) {
            end("waits no longer for its peer");
        }
    }

    private void require(boolean condition, String message) {
        if (!condition) {
            throw new SimulationFailure(side.name() + ": " + message);
        }
    }

    @Override
    public String toString() {
        return side.name() + (started ? " started" : "") + (ended ? " ended" : "") + (side.isGone() ? " gone" : "")
                + (side.isDead() ? " dead" : "") + " " + connection + " " + side;
    }
}

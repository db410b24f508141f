package io.rdma4j.simulator;

import io.rdma4j.simulator.network.SimulatedHost;
import io.rdma4j.transport.cm.AgentEvent;
import io.rdma4j.transport.cm.CmConnection;
import io.rdma4j.transport.cm.CmState;
import io.rdma4j.value.PathMtu;
import io.rdma4j.value.RejectReason;
import io.rdma4j.wire.cm.PrivateData;
import io.rdma4j.wire.cm.Rej;
import io.rdma4j.wire.cm.Rep;
import io.rdma4j.wire.cm.Req;
import java.util.SplittableRandom;
import org.jspecify.annotations.Nullable;

/**
 * One end of a connection that communication managers set up: the application that owns a side.
 *
 * <p>It drives the side according to the events of the connection. It checks that each event is reported once, and in a
 * valid state.
 */
final class ConnectionEnd {
    private static final int REJECTED_REPLIES = 30;
    private static final long MAX_PEER_TIMEOUT_NANOS = 3_000_000_000L;

    final ConnectedSide side;
    private final SimulatedConnection attempt;
    private final SplittableRandom random;
    private final long peerTimeoutNanos;
    private @Nullable CmConnection connection;
    private @Nullable Req request;
    private long acceptAtNanos = Long.MAX_VALUE;
    private long peerEndedNanos = -1;
    private boolean started;
    private boolean ended;

    ConnectionEnd(SimulatedConnection attempt, ConnectedSide side, SplittableRandom random) {
        this.attempt = attempt;
        this.side = side;
        this.random = random;
        peerTimeoutNanos = random.nextLong(MAX_PEER_TIMEOUT_NANOS);
    }

    SimulatedHost host() {
        return side.host();
    }

    /** Returns whether the connection is or was established. */
    boolean isStarted() {
        return started;
    }

    /** Returns whether the application has ended the connection, or was notified of its end. */
    boolean isEnded() {
        return ended;
    }

    /** Returns whether no further event can occur. */
    boolean isOver() {
        return side.isKilled()
                || ended && side.isClosed() && (connection == null || connection.state() == CmState.IDLE);
    }

    // ---- events of the connection

    void onEvent(AgentEvent.OfConnection event) {
        switch (event) {
            case AgentEvent.Replied replied -> onReply(replied.connection(), replied.reply());
            case AgentEvent.ReadyToUse _ -> onReadyToUse();
            case AgentEvent.Rejected rejected -> onReject(rejected.reject());
            case AgentEvent.Discarded discarded -> discarded.connection().destroy(attempt.nowNanos());
            case AgentEvent.Unreachable _ -> onUnreachable();
            case AgentEvent.DisconnectRequested requested -> onDisconnectRequest(requested.connection());
            case AgentEvent.Disconnected disconnected -> onDisconnected(disconnected.timedOut());
            case AgentEvent.TimewaitExit _ -> require(ended, "the time-wait of a connection in use is over");
            case AgentEvent.Requested _, AgentEvent.Opened _, AgentEvent.Closed _ -> {}
        }
    }

    // ---- active

    /** Sets the connection that was requested from the peer's host. */
    void connect(CmConnection cmConnection) {
        connection = cmConnection;
    }

    private void onReply(CmConnection cmConnection, Rep reply) {
        attempt.note(side.name() + " gets the reply");
        require(!started && !ended, "a reply for a connection that has one or is over");
        if (random.nextInt(REJECTED_REPLIES) == 0) {
            cmConnection.reject(attempt.nowNanos(), RejectReason.CONSUMER_DEFINED, PrivateData.EMPTY);
            end("rejects the reply");
            return;
        }
        ConnectionTerms peer = new ConnectionTerms(
                cmConnection.route().remote().high(),
                cmConnection.route().remote().low(),
                reply.queuePair(cmConnection.request()),
                reply.startingPsn(),
                reply.responderResources());
        side.ready(peer, attempt.connectData(reply.privateData()), attempt.mtuBytes());
        cmConnection.sendReadyToUse(attempt.nowNanos());
        start();
    }

    // ---- passive

    /** Accepts a request, immediately or after a delay. */
    void onRequest(CmConnection cmConnection, Req cmRequest, long delayNanos) {
        connection = cmConnection;
        request = cmRequest;
        if (delayNanos == 0) {
            accept();
        } else {
            acceptAtNanos = attempt.nowNanos() + delayNanos;
        }
    }

    private void accept() {
        acceptAtNanos = Long.MAX_VALUE;
        CmConnection cmConnection = connection;
        Req cmRequest = request;
        if (cmConnection == null || cmRequest == null || ended) {
            return;
        }
        ConnectionTerms peer = new ConnectionTerms(
                cmConnection.route().remote().high(),
                cmConnection.route().remote().low(),
                cmRequest.localQueuePair(),
                cmRequest.startingPsn(),
                cmRequest.responderResources());
        side.ready(
                peer,
                attempt.connectData(cmRequest.privateData()),
                PathMtu.ofCode(cmRequest.pathMtu()).bytes());
        cmConnection.accept(attempt.nowNanos(), attempt.reply(side, cmRequest));
    }

    private void onReadyToUse() {
        attempt.note(side.name() + " is established");
        require(!started && !ended, "established twice, or after the end");
        start();
    }

    private void start() {
        started = true;
        side.start();
    }

    // ---- the end

    private void onReject(Rej reject) {
        require(!ended, "a reject after the end");
        finish("is rejected, " + reject.reasonText());
    }

    private void onUnreachable() {
        require(!ended && !started, "unreachable after the end, or established");
        finish("finds the peer unreachable");
    }

    private void onDisconnectRequest(CmConnection cmConnection) {
        require(!ended, "asked to disconnect after the end");
        require(started, "asked to disconnect before it is established");
        finish("is asked to disconnect");
        cmConnection.disconnect(attempt.nowNanos());
    }

    private void onDisconnected(boolean timedOut) {
        require(ended, "disconnected without having requested it");
        attempt.note(side.name() + (timedOut ? " gets no reply to its disconnect request" : " is disconnected"));
    }

    private void finish(String reason) {
        attempt.note(side.name() + " " + reason);
        ended = true;
        side.end();
    }

    /** Ends the connection on behalf of the application. */
    void end(String reason) {
        if (ended) {
            return;
        }
        finish(reason);
        CmConnection cmConnection = connection;
        if (cmConnection == null) {
            return;
        }
        switch (cmConnection.state()) {
            case ESTABLISHED -> {
                if (random.nextBoolean()) {
                    cmConnection.disconnect(attempt.nowNanos());
                } else {
                    cmConnection.destroy(attempt.nowNanos());
                }
            }
            case IDLE, TIMEWAIT -> {}
            default -> cmConnection.destroy(attempt.nowNanos());
        }
    }

    /** Marks the end as killed because its host has crashed. */
    void kill() {
        ended = true;
        side.kill();
    }

    // ---- the application

    /** Does some of the pending work. */
    void work(@Nullable ConnectionEnd peer) {
        long now = attempt.nowNanos();
        if (side.isKilled() || host().isPaused()) {
            side.onPaused();
            return;
        }
        if (acceptAtNanos <= now) {
            accept();
        }
        if (!started && side.hasReceived() && connection != null) {
            connection.notifyCommunicationEstablished();
            host().handleEvents();
        }
        side.work(now);
        if (started && !ended) {
            checkPeer(now, peer);
        }
    }

    /**
     * Ends the connection if its side wants to, or if the peer has ended and sends no disconnect request for some time.
     * The wait simulates a keep-alive of the application. A side whose queue pair has a keep-alive must detect the end
     * by itself.
     */
    private void checkPeer(long now, @Nullable ConnectionEnd peer) {
        boolean isPeerEnded = peer == null || peer.isEnded();
        if (!isPeerEnded) {
            peerEndedNanos = -1;
        } else if (peerEndedNanos < 0) {
            peerEndedNanos = now;
        }
        if (side.wantsToEnd()) {
            end("ends it");
        } else if (side.keepAliveNanos() == 0 && isPeerEnded && now - peerEndedNanos > peerTimeoutNanos) {
            end("gives up waiting for its peer");
        }
    }

    private void require(boolean condition, String message) {
        if (!condition) {
            throw new SimulationFailure(side.name() + ": " + message);
        }
    }

    @Override
    public String toString() {
        return side.name() + (started ? " started" : "") + (ended ? " ended" : "") + (side.isClosed() ? " closed" : "")
                + (side.isKilled() ? " killed" : "") + " " + connection + " " + side;
    }
}

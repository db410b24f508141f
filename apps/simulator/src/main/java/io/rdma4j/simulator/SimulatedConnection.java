package io.rdma4j.simulator;

import io.rdma4j.simulator.network.SimulatedHost;
import io.rdma4j.transport.cm.CmAgent;
import io.rdma4j.transport.cm.CmConnection;
import io.rdma4j.value.Gid;
import io.rdma4j.value.PathMtu;
import io.rdma4j.value.RejectReason;
import io.rdma4j.wire.cm.CmPath;
import io.rdma4j.wire.cm.PrivateData;
import io.rdma4j.wire.cm.Rep;
import io.rdma4j.wire.cm.Req;
import io.rdma4j.wire.cm.ReqBuilder;
import java.nio.ByteBuffer;
import java.util.Arrays;
import java.util.SplittableRandom;
import org.jspecify.annotations.Nullable;

/**
 * One connection, from the request to the end of its time-wait.
 *
 * <p>It ends when both sides have done their planned work, or in the middle of it, or because of the disruptions.
 */
final class SimulatedConnection {
    /** The service ID that every host listens on. */
    static final long SERVICE = 0x0106_1c06L;

    private static final long NO_SERVICE = 0x0106_1c07L;

    private static final int WITHOUT_SERVICE = 24;
    private static final int REJECTED = 12;
    private static final int SLOW_REPLIES = 4;
    private static final int ENDED_EARLY = 3;
    private static final long MAX_REPLY_DELAY_NANOS = 1_000_000_000L;
    private static final long MAX_WORK_NANOS = 50_000_000L;
    private static final long MAX_IDLE_NANOS = 400_000_000L;
    private static final int MAX_PROBES = 100;
    private static final int TARGET_DELAY = 15;
    private static final int HOPS = 64;

    private final ClusterRun run;
    private final SplittableRandom random;
    private final SideKind kind;
    private final String name;
    private final int number;
    private final SimulatedHost passiveHost;
    private final PathMtu mtu;
    private final ConnectionEnd active;
    private final boolean passiveEnds;
    private final long disconnectAfterNanos;
    private @Nullable ConnectionEnd passive;
    private long bothStartedNanos = -1;

    /** True if both ends were found to be over; only a late request, which creates the passive end, changes this. */
    private boolean isOver;

    private long bothDoneNanos = -1;
    private final long idleNanos;

    /** Creates both ends' parameters and the active end; {@link #begin} sends the request. */
    SimulatedConnection(
            ClusterRun run,
            SideKind kind,
            String name,
            int number,
            SimulatedHost activeHost,
            SimulatedHost passiveHost,
            SplittableRandom random) {
        this.run = run;
        this.kind = kind;
        this.name = name;
        this.number = number;
        this.passiveHost = passiveHost;
        this.random = random;
        mtu = PathMtu.ofCode(random.nextInt(1, 6));
        passiveEnds = random.nextBoolean();
        // The applications of a stream end it themselves. Applications of other connections may be interrupted.
        disconnectAfterNanos = kind != SideKind.STREAM && random.nextInt(ENDED_EARLY) == 0
                ? random.nextLong(MAX_WORK_NANOS)
                : Long.MAX_VALUE;
        idleNanos = random.nextLong(MAX_IDLE_NANOS);
        active = new ConnectionEnd(
                this, run.createSide(kind, true, name + " client", activeHost, random.split()), random.split());
    }

    /** Sends the request. */
    void begin() {
        SimulatedHost from = active.host();
        CmAgent agent = from.agent();
        ConnectionTerms terms = active.side.terms();
        ReqBuilder request = Req.builder()
                .serviceId(random.nextInt(WITHOUT_SERVICE) == 0 ? NO_SERVICE : SERVICE)
                .localQueuePair(terms.queuePairNumber())
                .startingPsn(terms.startingPsn())
                .responderResources(terms.servedReads())
                .initiatorDepth(terms.servedReads())
                .pathMtu(mtu.code())
                .retryCount(7)
                .rnrRetryCount(7)
                .remoteResponseTimeout(random.nextInt(14, 19))
                .localResponseTimeout(random.nextInt(14, 19))
                .maxCmRetries(random.nextInt(3, 16))
                .primaryPath(CmPath.roce(gid(from), gid(passiveHost), 0, 0, HOPS, random.nextInt(10, 15)))
                .privateData(privateData(active.side.connectData()));
        if (kind == SideKind.UNRELIABLE) {
            request.transportType(Req.TRANSPORT_UC);
        } else if (kind == SideKind.EXTENDED) {
            request.extended();
        }
        note("requests a connection, " + kind);
        active.connect(agent.connect(nowNanos(), request, 0, active));
    }

    private static Gid gid(SimulatedHost host) {
        return new Gid(host.addressHigh(), host.addressLow());
    }

    /** Handles the request at the peer's host: rejects it, or creates the passive end. */
    void onRequest(CmConnection connection, Req request) {
        boolean isKnown = request.transportType() == (kind == SideKind.UNRELIABLE ? Req.TRANSPORT_UC : Req.TRANSPORT_RC)
                || kind == SideKind.EXTENDED && request.isExtended();
        if (!isKnown || request.pathMtu() != mtu.code()) {
            throw new SimulationFailure(name + ": the request was changed in transit: " + request);
        }
        if (passive != null || random.nextInt(REJECTED) == 0) {
            note("rejects the request");
            connection.reject(nowNanos(), RejectReason.CONSUMER_DEFINED, PrivateData.of((byte) 1));
            return;
        }
        ConnectionEnd passiveEnd = new ConnectionEnd(
                this, run.createSide(kind, false, name + " server", passiveHost, random.split()), random.split());
        passive = passiveEnd;
        isOver = false;
        connection.attach(passiveEnd);
        active.side.setPeer(passiveEnd.side);
        passiveEnd.side.setPeer(active.side);
        passiveEnd.onRequest(
                connection, request, random.nextInt(SLOW_REPLIES) == 0 ? random.nextLong(1, MAX_REPLY_DELAY_NANOS) : 0);
    }

    /** Returns the reply of the passive side. */
    Rep reply(ConnectedSide side, Req request) {
        ConnectionTerms terms = side.terms();
        Rep reply = Rep.builder()
                .localQueuePair(terms.queuePairNumber())
                .startingPsn(terms.startingPsn())
                .responderResources(terms.servedReads())
                .initiatorDepth(request.responderResources())
                .targetAcknowledgeDelay(TARGET_DELAY)
                .sharedReceiveQueue(kind == SideKind.EXTENDED)
                .privateData(privateData(side.connectData()))
                .build();
        return request.isExtended() ? reply.extended() : reply;
    }

    private PrivateData privateData(byte[] connectData) {
        return PrivateData.of(ByteBuffer.allocate(Integer.BYTES + connectData.length)
                .putInt(number)
                .put(connectData)
                .array());
    }

    /** Returns the number of the connection that a request belongs to. */
    static int number(Req request) {
        return ByteBuffer.wrap(request.privateData().toByteArray()).getInt();
    }

    /** Returns the application's part of the private data. */
    byte[] connectData(PrivateData data) {
        byte[] bytes = data.toByteArray();
        if (ByteBuffer.wrap(bytes).getInt() != number) {
            throw new SimulationFailure(name + ": the private data belong to another connection");
        }
        return Arrays.copyOfRange(bytes, Integer.BYTES, bytes.length);
    }

    /** Returns the path MTU in bytes. */
    int mtuBytes() {
        return mtu.bytes();
    }

    long nowNanos() {
        return run.network().nowNanos();
    }

    /** Adds an event to the log. */
    void note(String text) {
        run.log().note(nowNanos(), text.startsWith(name) ? text : name + " " + text);
    }

    /** Does some of the pending work of both ends, and ends the connection when it is time. */
    void work() {
        if (isOver) {
            return;
        }
        ConnectionEnd server = passive;
        active.work(server);
        if (server == null) {
            return;
        }
        server.work(active);
        if (!active.isStarted() || !server.isStarted() || active.isEnded() && server.isEnded()) {
            return;
        }
        if (bothStartedNanos < 0) {
            bothStartedNanos = nowNanos();
        }
        ConnectionEnd initiator = passiveEnds ? server : active;
        if (initiator.host().isPaused() || initiator.side.isKilled()) {
            return;
        }
        if (kind != SideKind.STREAM && active.side.isDone() && server.side.isDone()) {
            if (!isIdleLongEnough(initiator, initiator == active ? server : active)) {
                return;
            }
            initiator.end("has done all its work and disconnects");
        } else if (nowNanos() - bothStartedNanos > disconnectAfterNanos) {
            initiator.end("disconnects in the middle of its work");
        }
    }

    /**
     * Returns whether a connection without remaining work must end. A connection with a keep-alive stays open for some
     * time. If its peer has died, the keep-alive must end it.
     */
    private boolean isIdleLongEnough(ConnectionEnd initiator, ConnectionEnd other) {
        if (bothDoneNanos < 0) {
            bothDoneNanos = nowNanos();
        }
        long probed = Math.max(initiator.side.keepAliveNanos(), other.side.keepAliveNanos());
        boolean mustNotice = initiator.side.keepAliveNanos() > 0 && other.side.isKilled();
        return !mustNotice && nowNanos() - bothDoneNanos >= Math.min(idleNanos, MAX_PROBES * probed);
    }

    /** Notifies the ends of the crash of a host. */
    void onCrash(SimulatedHost host) {
        if (active.host() == host) {
            active.kill();
        }
        if (passive != null && passive.host() == host) {
            passive.kill();
        }
    }

    /** Returns whether the active end has ended. */
    boolean isActiveEnded() {
        return active.isEnded();
    }

    /** Returns whether both sides completed all planned work. */
    boolean isComplete() {
        return bothStartedNanos >= 0 && passive != null && active.side.isComplete() && passive.side.isComplete();
    }

    /** Returns whether no further event can occur. */
    boolean isOver() {
        isOver = isOver || active.isOver() && (passive == null || passive.isOver());
        return isOver;
    }

    /** Runs the final checks. */
    void checkEnd() {
        boolean mustComplete = run.isPerfect() && bothStartedNanos >= 0 && disconnectAfterNanos == Long.MAX_VALUE;
        if (mustComplete && kind != SideKind.STREAM && !isComplete()) {
            throw new SimulationFailure(name + " was not disturbed, but is not complete: " + this);
        }
        active.side.checkEnd();
        if (passive != null) {
            passive.side.checkEnd();
        }
    }

    @Override
    public String toString() {
        return active + "; " + passive;
    }
}

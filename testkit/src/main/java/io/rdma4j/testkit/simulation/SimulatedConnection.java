package io.rdma4j.testkit.simulation;

import io.rdma4j.testkit.SimulatedHost;
import io.rdma4j.transport.cm.CmAgent;
import io.rdma4j.transport.cm.CmConnection;
import io.rdma4j.transport.cm.CmEvents;
import io.rdma4j.wire.Gid;
import io.rdma4j.wire.cm.CmPath;
import io.rdma4j.wire.cm.PrivateData;
import io.rdma4j.wire.cm.RejectReason;
import io.rdma4j.wire.cm.Rep;
import io.rdma4j.wire.cm.Req;
import io.rdma4j.wire.cm.ReqBuilder;
import java.nio.ByteBuffer;
import java.util.Arrays;
import java.util.SplittableRandom;
import org.jspecify.annotations.Nullable;

/**
 * One connection from the request to the end of its time-wait: who asks, who answers, and how it ends. A connection ends when
 * both sides have done what they meant to, or in the middle of it, or by what befalls hosts and network.
 */
final class SimulatedConnection {
    /** The service that every host has, and one that none has. */
    static final long SERVICE = 0x0106_1c06L;

    private static final long NO_SERVICE = 0x0106_1c07L;

    private static final int WITHOUT_SERVICE = 24;
    private static final int REJECTED = 12;
    private static final int SLOW_ANSWERS = 4;
    private static final int ENDED_EARLY = 3;
    private static final long MOST_THINK_NANOS = 1_000_000_000L;
    private static final long MOST_WORK_NANOS = 50_000_000L;
    private static final int TARGET_DELAY = 15;
    private static final int HOPS = 64;

    private final ClusterRun run;
    private final SplittableRandom random;
    private final SideKind kind;
    private final String name;
    private final int number;
    private final SimulatedHost passiveHost;
    private final int mtuCode;
    private final ConnectionEnd active;
    private final boolean passiveEnds;
    private final long cutAfterNanos;
    private @Nullable ConnectionEnd passive;
    private long bothStartedNanos = -1;

    /** Sends a request from one host to another. */
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
        mtuCode = random.nextInt(1, 6);
        passiveEnds = random.nextBoolean();
        // A stream ends as its applications want; others do not care about what is cut off.
        cutAfterNanos = kind != SideKind.STREAM && random.nextInt(ENDED_EARLY) == 0
                ? random.nextLong(MOST_WORK_NANOS)
                : Long.MAX_VALUE;
        active = new ConnectionEnd(
                this, run.makeSide(kind, true, name + " client", activeHost, random.split()), random.split());
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
                .pathMtu(mtuCode)
                .retryCount(7)
                .rnrRetryCount(7)
                .remoteResponseTimeout(random.nextInt(14, 19))
                .localResponseTimeout(random.nextInt(14, 19))
                .maxCmRetries(random.nextInt(3, 16))
                .primaryPath(CmPath.roce(gid(from), gid(passiveHost), 0, 0, HOPS, random.nextInt(10, 15)))
                .privateData(named(active.side.greeting()));
        if (kind == SideKind.UNRELIABLE) {
            request.transportType(Req.TRANSPORT_UC);
        } else if (kind == SideKind.EXTENDED) {
            request.extended();
        }
        note("asks for " + kind);
        active.connect(agent.connect(nowNanos(), request, 0, active));
    }

    private static Gid gid(SimulatedHost host) {
        return new Gid(host.addressHigh(), host.addressLow());
    }

    /** Takes the request at the peer's host; who gets the events of the connection, or null. */
    @Nullable
    CmEvents onRequest(CmConnection connection, Req request) {
        boolean isKnown = request.transportType() == (kind == SideKind.UNRELIABLE ? Req.TRANSPORT_UC : Req.TRANSPORT_RC)
                || kind == SideKind.EXTENDED && request.isExtended();
        if (!isKnown || mtuBytes(request.pathMtu()) != mtuBytes()) {
            throw new SimulationFailure(name + ": the request has changed on its way: " + request);
        }
        if (passive != null || random.nextInt(REJECTED) == 0) {
            note("rejects the request");
            connection.reject(nowNanos(), RejectReason.CONSUMER_DEFINED, PrivateData.of((byte) 1));
            return null;
        }
        ConnectionEnd made = new ConnectionEnd(
                this, run.makeSide(kind, false, name + " server", passiveHost, random.split()), random.split());
        passive = made;
        active.side.meet(made.side);
        made.side.meet(active.side);
        made.onRequest(
                connection, request, random.nextInt(SLOW_ANSWERS) == 0 ? random.nextLong(1, MOST_THINK_NANOS) : 0);
        return made;
    }

    /** What the passive side says. */
    Rep reply(ConnectedSide side, Req request) {
        ConnectionTerms terms = side.terms();
        Rep reply = Rep.of(
                0,
                0,
                terms.queuePairNumber(),
                terms.startingPsn(),
                terms.servedReads(),
                request.responderResources(),
                TARGET_DELAY,
                false,
                7,
                kind == SideKind.EXTENDED,
                0,
                named(side.greeting()));
        return request.isExtended() ? reply.extended() : reply;
    }

    private PrivateData named(byte[] greeting) {
        return PrivateData.of(ByteBuffer.allocate(Integer.BYTES + greeting.length)
                .putInt(number)
                .put(greeting)
                .array());
    }

    /** The number of the attempt that a request belongs to. */
    static int number(Req request) {
        return ByteBuffer.wrap(request.privateData().toByteArray()).getInt();
    }

    /** The greeting in private data. */
    byte[] withoutName(PrivateData data) {
        byte[] bytes = data.toByteArray();
        if (ByteBuffer.wrap(bytes).getInt() != number) {
            throw new SimulationFailure(name + ": the private data are those of another connection");
        }
        return Arrays.copyOfRange(bytes, Integer.BYTES, bytes.length);
    }

    /** Bytes of the path MTU. */
    int mtuBytes() {
        return mtuBytes(mtuCode);
    }

    /** Bytes of a path MTU that a message names by its code. */
    static int mtuBytes(int code) {
        return 128 << code;
    }

    long nowNanos() {
        return run.network().nowNanos();
    }

    /** Notes that something has happened. */
    void note(String text) {
        run.log().note(nowNanos(), text.startsWith(name) ? text : name + " " + text);
    }

    /** Does some of what both ends have to do, and ends it when its time has come. */
    void work() {
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
        ConnectionEnd who = passiveEnds ? server : active;
        if (who.host().isPaused() || who.side.isDead()) {
            return;
        }
        if (kind != SideKind.STREAM && active.side.isDone() && server.side.isDone()) {
            who.end("has done everything and disconnects");
        } else if (nowNanos() - bothStartedNanos > cutAfterNanos) {
            who.end("disconnects in the middle of it");
        }
    }

    /** A host has crashed. */
    void onCrash(SimulatedHost host) {
        if (active.host() == host) {
            active.die();
        }
        if (passive != null && passive.host() == host) {
            passive.die();
        }
    }

    /** Whether the side that asked has no use for it any more. */
    boolean isActiveEnded() {
        return active.isEnded();
    }

    /** Whether both sides did all that they meant to. */
    boolean isComplete() {
        return bothStartedNanos >= 0 && passive != null && active.side.isComplete() && passive.side.isComplete();
    }

    /** Whether nothing is left to happen to it. */
    boolean isOver() {
        return active.isOver() && (passive == null || passive.isOver());
    }

    /** Checks all that must hold when everything is over. */
    void checkEnd() {
        boolean mustComplete = run.isPerfect() && bothStartedNanos >= 0 && cutAfterNanos == Long.MAX_VALUE;
        if (mustComplete && kind != SideKind.STREAM && !isComplete()) {
            throw new SimulationFailure(name + " was in nobody's way, but is not complete: " + this);
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

package io.rdma4j.fuzz;

import io.rdma4j.transport.cm.AgentEvent;
import io.rdma4j.transport.cm.CmAgent;
import io.rdma4j.transport.cm.CmConfiguration;
import io.rdma4j.transport.cm.CmConnection;
import io.rdma4j.transport.cm.CmCounters;
import io.rdma4j.transport.cm.CmDatagram;
import io.rdma4j.transport.cm.CmState;
import io.rdma4j.transport.cm.RequestFilter;
import io.rdma4j.transport.cm.ServiceRequest;
import io.rdma4j.transport.cm.ServiceResolution;
import io.rdma4j.value.Gid;
import io.rdma4j.value.RejectReason;
import io.rdma4j.wire.Frame;
import io.rdma4j.wire.Opcode;
import io.rdma4j.wire.Wire;
import io.rdma4j.wire.cm.CmAttribute;
import io.rdma4j.wire.cm.CmMad;
import io.rdma4j.wire.cm.CmMessage;
import io.rdma4j.wire.cm.CmPath;
import io.rdma4j.wire.cm.CmRoute;
import io.rdma4j.wire.cm.GsiPacket;
import io.rdma4j.wire.cm.IpCmHeader;
import io.rdma4j.wire.cm.MadHeader;
import io.rdma4j.wire.cm.PrivateData;
import io.rdma4j.wire.cm.Rep;
import io.rdma4j.wire.cm.Req;
import io.rdma4j.wire.cm.ReqBuilder;
import io.rdma4j.wire.cm.SidrRep;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.stream.Stream;

/**
 * F4: MADs sent to queue pair 1, and actions of the owner of the connections.
 *
 * <p>Every MAD is counted. A parsed message is written unchanged except for reserved bits. Waiting requests are
 * bounded, one MAD causes few MADs in response, and no state is left once all connections are destroyed.
 */
public final class ManagementTarget implements FuzzTarget {
    private static final long SERVICE = 0x0000_0000_0106_1c06L;
    private static final long DATAGRAM_SERVICE = 0x0000_0000_0111_1c06L;
    private static final long GUID = 0x5054_00ff_fe88_0001L;
    private static final Gid LOCAL = Gid.ofIpv4(0x0a58_0002);
    private static final Gid PEER = Gid.ofIpv4(0x0a58_0001);
    private static final Gid OTHER = Gid.ofIpv4(0x0a58_0003);
    private static final int FOREIGN_SOURCE = 0x80;
    private static final int MAX_HALF_OPEN = 6;
    private static final int BACKLOG = 4;
    private static final CmAttribute[] ATTRIBUTES = CmAttribute.values();

    /** A rejection, and a DREQ for the stale connection that a REQ indicates. */
    private static final int MAX_SENT_PER_MAD = 2;

    private static final int MAX_FINAL_DEADLINES = 10_000;
    private static final int COMMUNICATION_ID = MadHeader.LENGTH;

    /** Creates the target. */
    public ManagementTarget() {}

    @Override
    public void run(byte[] input) {
        new Run(new Script(input)).execute();
    }

    /** The agent and the owner for one input. */
    private static final class Run {
        private final Script script;
        private final CmAgent agent;
        private final List<CmConnection> connections = new ArrayList<>();
        private final Set<CmConnection> open = new HashSet<>();
        private final List<ServiceRequest> requests = new ArrayList<>();
        private final List<ServiceResolution> resolutions = new ArrayList<>();
        private long now = 1_000_000_000L;
        private int nextId = 1;
        private int owner;
        private boolean isPrinted;

        Run(Script script) {
            this.script = script;
            agent = new CmAgent(new CmConfiguration(
                    GUID, () -> nextId++, MAX_HALF_OPEN, false, CmConfiguration.DEFAULT_FIRST_RETRANSMIT_NANOS));
            var _ = agent.listen(SERVICE, (_, _) -> verdict(), BACKLOG, this);
            var _ = agent.serve(DATAGRAM_SERVICE, (_, _) -> verdict(), BACKLOG, this);
        }

        void execute() {
            owner = script.u8();
            while (!script.isAtEnd()) {
                step();
                Invariant.atMost(agent.halfOpenCount(), MAX_HALF_OPEN, "half-open connections");
            }
            end();
        }

        private void step() {
            switch (script.choice(8)) {
                case 0 -> deliver(script.run());
                case 1, 2, 3 -> deliver(shapedMad());
                case 4 -> act();
                case 5 -> connect();
                case 6 -> {
                    now += script.u16() * 10_000_000L;
                    agent.onDeadline(now);
                    drain();
                }
                default -> owner = script.u8();
            }
        }

        /** Builds a MAD that refers to existing objects more often than random bytes would. */
        private byte[] shapedMad() {
            byte[] mad = new byte[CmMad.LENGTH];
            MemorySegment s = MemorySegment.ofArray(mad);
            CmAttribute attribute = ATTRIBUTES[script.choice(ATTRIBUTES.length)];
            byte[] body = script.run();
            MemorySegment.copy(
                    body, 0, s, ValueLayout.JAVA_BYTE, MadHeader.LENGTH, Math.min(body.length, CmMad.BODY_LENGTH));
            MadHeader.of(attribute, 1, 0).emit(s, 0);
            int flags = script.u8();
            if ((flags & 1) == 0 && attribute != CmAttribute.SIDR_REP) {
                Wire.u32(s, COMMUNICATION_ID, 0x100 + script.u8() % 8);
                if (attribute != CmAttribute.REQ && attribute != CmAttribute.SIDR_REQ) {
                    Wire.u32(s, COMMUNICATION_ID + 4, script.u8() % 16);
                }
            }
            if ((flags & 2) == 0 && attribute == CmAttribute.REQ) {
                request(script.u8() % 8).emit(s, 0, 7);
                Wire.u32(s, COMMUNICATION_ID, 0x100 + script.u8() % 8);
            }
            return mad;
        }

        private static Req request(int queuePair) {
            return Req.builder()
                    .serviceId(SERVICE)
                    .localQueuePair(queuePair)
                    .localCaGuid(GUID + 1)
                    .startingPsn(0x123)
                    .primaryPath(CmPath.roce(PEER, LOCAL, 0, 0, 64, 14))
                    .privateData(new IpCmHeader(PEER, 1, LOCAL).with(PrivateData.of((byte) 1)))
                    .build();
        }

        private void deliver(byte[] mad) {
            CmCounters counters = agent.counters();
            MemorySegment s = MemorySegment.ofArray(mad);
            checkMessage(s);
            long before = counters.madsReceived;
            Gid source = (owner & FOREIGN_SOURCE) == 0 ? PEER : OTHER;
            agent.onMad(now, new CmDatagram(new CmRoute(LOCAL, source, 0), 0, s));
            Invariant.equal(counters.madsReceived, before + 1, "every MAD is counted");
            Invariant.atMost(drain(), MAX_SENT_PER_MAD + ownerMessages(), "MADs sent in response to one");
        }

        /**
         * Returns the number of MADs that the owner causes: one if bit 0 is set, which makes it decide when it handles an
         * event.
         */
        private int ownerMessages() {
            return owner & 1;
        }

        private void checkMessage(MemorySegment s) {
            CmMessage message = CmMessage.parse(s, 0, s.byteSize());
            Invariant.holds(
                    (message == null) == (CmMad.check(s, 0, s.byteSize()) != CmMad.Result.OK),
                    "a MAD that passes the check is parsed");
            if (message != null) {
                MemorySegment written = MemorySegment.ofArray(new byte[CmMad.LENGTH]);
                message.emit(written, 0, CmMad.transactionId(s, 0));
                CmMessage again = CmMessage.parse(written, 0, CmMad.LENGTH);
                Invariant.holds(message.equals(again), "a written message is parsed to an equal one");
                // One per input is enough, because formatting takes longer than everything else.
                Invariant.holds(isPrinted || !message.toString().isEmpty(), "every message can be formatted");
                isPrinted = true;
                PrivateData data = message instanceof Req req ? req.privateData() : PrivateData.EMPTY;
                IpCmHeader header = IpCmHeader.parse(data);
                Invariant.holds(
                        header == null || header.equals(IpCmHeader.parse(header.with(PrivateData.EMPTY))),
                        "a written IP header is parsed to an equal one");
            }
        }

        private int drain() {
            AgentEvent event = agent.pollEvent();
            while (event != null) {
                handle(event);
                event = agent.pollEvent();
            }
            int sent = 0;
            CmDatagram datagram = agent.pollTransmit();
            while (datagram != null) {
                Invariant.equal(datagram.mad().byteSize(), CmMad.LENGTH, "a MAD has the fixed length");
                sent++;
                datagram = agent.pollTransmit();
            }
            return sent;
        }

        // ---- the owner ----

        private void connect() {
            if (connections.size() < 16) {
                if (script.flag()) {
                    connections.add(agent.connect(now, builder(script.u8() % 8), 0, this));
                } else {
                    resolutions.add(
                            agent.resolve(now, new CmRoute(LOCAL, PEER, 0), DATAGRAM_SERVICE, PrivateData.EMPTY, this));
                }
                drain();
            }
        }

        private static ReqBuilder builder(int queuePair) {
            return Req.builder()
                    .serviceId(SERVICE)
                    .localQueuePair(queuePair)
                    .primaryPath(CmPath.roce(LOCAL, PEER, 0, 0, 64, 14));
        }

        private void act() {
            int choice = script.u8();
            if (connections.isEmpty()) {
                return;
            }
            CmConnection connection = connections.get(choice % connections.size());
            decide(connection, script.u8());
            drain();
        }

        private void decide(CmConnection connection, int choice) {
            CmState state = connection.state();
            boolean isRequested = state == CmState.REQ_RECEIVED || state == CmState.MRA_REQ_SENT;
            boolean isReplied = state == CmState.REP_RECEIVED || state == CmState.MRA_REP_SENT;
            switch (choice % 6) {
                case 0 -> {
                    if (isRequested) {
                        connection.accept(
                                now,
                                Rep.builder()
                                        .localQueuePair(0x456)
                                        .startingPsn(1)
                                        .responderResources(1)
                                        .initiatorDepth(1)
                                        .targetAcknowledgeDelay(15)
                                        .build());
                    } else if (isReplied) {
                        connection.sendReadyToUse(now);
                    }
                }
                case 1 -> {
                    if (isRequested || isReplied) {
                        connection.reject(now, RejectReason.CONSUMER_DEFINED, PrivateData.of((byte) 1));
                    }
                }
                case 2 -> {
                    if (state == CmState.ESTABLISHED || state == CmState.DREQ_RECEIVED) {
                        boolean _ = connection.disconnect(now);
                    }
                }
                case 3 -> {
                    boolean _ = connection.destroy(now);
                }
                case 4 -> {
                    boolean _ = connection.notifyCommunicationEstablished();
                }
                default -> connection.releaseBacklog();
            }
        }

        private RequestFilter.Verdict verdict() {
            if ((owner & 2) != 0) {
                return RequestFilter.Verdict.DECLINE;
            }
            if ((owner & 4) != 0) {
                return (owner & 8) != 0 ? RequestFilter.Verdict.INVALID_PATH_MTU : RequestFilter.Verdict.DROP;
            }
            return RequestFilter.Verdict.TAKE;
        }

        private void handle(AgentEvent event) {
            switch (event) {
                case AgentEvent.Requested requested -> {
                    connections.add(requested.connection());
                    notifyOwner(requested.connection());
                }
                case AgentEvent.Replied replied -> notifyOwner(replied.connection());
                case AgentEvent.ReadyToUse ready -> {
                    CmState state = ready.connection().state();
                    Invariant.holds(
                            state == CmState.ESTABLISHED || state == CmState.DREQ_RECEIVED,
                            "a connection that is ready to use is established, or its peer has disconnected immediately");
                    notifyOwner(ready.connection());
                }
                case AgentEvent.Rejected rejected ->
                    Invariant.holds(
                            isIn(rejected.connection(), CmState.IDLE, CmState.TIMEWAIT),
                            "a rejected connection is idle or in time-wait");
                case AgentEvent.Discarded discarded ->
                    Invariant.holds(
                            isIn(discarded.connection(), CmState.IDLE, CmState.TIMEWAIT),
                            "a discarded request was withdrawn");
                case AgentEvent.Unreachable unreachable ->
                    Invariant.holds(isIn(unreachable.connection(), CmState.IDLE), "an unreachable connection is idle");
                case AgentEvent.DisconnectRequested requested -> notifyOwner(requested.connection());
                case AgentEvent.Disconnected disconnected ->
                    Invariant.holds(
                            isIn(disconnected.connection(), CmState.TIMEWAIT),
                            "a disconnected connection is in time-wait");
                case AgentEvent.TimewaitExit exit ->
                    Invariant.holds(isIn(exit.connection(), CmState.IDLE), "a connection is idle after time-wait");
                case AgentEvent.Opened opened ->
                    Invariant.holds(open.add(opened.connection()), "a connection is opened once");
                case AgentEvent.Closed closed ->
                    Invariant.holds(open.remove(closed.connection()), "an opened connection is closed once");
                case AgentEvent.ServiceRequested requested -> onRequest(requested.request());
                case AgentEvent.OfResolution ended ->
                    Invariant.holds(
                            resolutions.remove(ended.resolution()), "a resolution is answered or times out, once");
            }
        }

        private static boolean isIn(CmConnection connection, CmState... states) {
            return Arrays.asList(states).contains(connection.state());
        }

        private void onRequest(ServiceRequest request) {
            if ((owner & 1) != 0) {
                request.answer(now, SidrRep.STATUS_VALID, 5, 6, PrivateData.EMPTY);
            } else {
                requests.add(request);
            }
        }

        private void notifyOwner(CmConnection connection) {
            if ((owner & 1) != 0) {
                decide(connection, owner >> 3);
            }
        }

        // ---- the end ----

        private void end() {
            for (CmConnection connection : List.copyOf(connections)) {
                boolean _ = connection.destroy(now);
            }
            for (ServiceRequest request : requests) {
                request.destroy(now);
            }
            drain();
            for (int i = 0; agent.nextDeadlineNanos() != Long.MAX_VALUE; i++) {
                Invariant.atMost(i, MAX_FINAL_DEADLINES, "deadlines until no connection is left");
                now = Math.max(now, agent.nextDeadlineNanos());
                agent.onDeadline(now);
                drain();
            }
            Invariant.equal(agent.connectionCount(), 0, "connections left");
            Invariant.equal(open.size(), 0, "opened connections left");
            Invariant.equal(agent.halfOpenCount(), 0, "half-open connections left");
            Invariant.equal(agent.resolutionCount(), 0, "resolutions left");
            Invariant.equal(agent.waitingServiceRequests(), 0, "service requests of peers left");
        }
    }

    @Override
    public Stream<byte[]> seeds() {
        Stream<byte[]> captured = Stream.of("cmfuzz", "rej", "nolisten", "rping", "ucmatose", "udaddy", "noans", "dead")
                .map(name -> {
                    ScriptWriter seed = new ScriptWriter().u8(1);
                    for (Frame frame : Captures.frames(name)) {
                        byte[] bytes = Captures.payload(frame);
                        if (bytes[0] == Opcode.UD_SEND_ONLY.code() && bytes.length >= GsiPacket.LENGTH) {
                            byte[] mad = Arrays.copyOfRange(
                                    bytes, GsiPacket.HEADER_LENGTH, GsiPacket.HEADER_LENGTH + CmMad.LENGTH);
                            seed.u8(0).run(mad);
                        }
                    }
                    return seed.bytes();
                });
        Stream<byte[]> passive = Stream.of(0, 1, 2, 3)
                .map(owner -> new ScriptWriter()
                        .u8(owner)
                        .u8(1, 0)
                        .u16(0)
                        .u8(0, 0, 1, 0)
                        .u8(4, 0, owner)
                        .u8(1, 4)
                        .u16(0)
                        .u8(0, 0, 1)
                        .u8(1, 5)
                        .u16(0)
                        .u8(0, 0, 1)
                        .u8(6)
                        .u16(1000)
                        .u8(5, 1, 3)
                        .u8(1, 3)
                        .u16(0)
                        .u8(0, 1, 2)
                        .u8(4, 1, 0)
                        .u8(4, 1, 2)
                        .u8(1, 6)
                        .u16(0)
                        .u8(0, 1, 2)
                        .bytes());
        return Stream.concat(captured, passive);
    }
}

package io.rdma4j.transport.cm;

import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;

import io.rdma4j.transport.cm.CapturedMads.CapturedMad;
import io.rdma4j.value.Gid;
import io.rdma4j.value.RejectReason;
import io.rdma4j.wire.cm.CmMad;
import io.rdma4j.wire.cm.CmMessage;
import io.rdma4j.wire.cm.Dreq;
import io.rdma4j.wire.cm.IpCmHeader;
import io.rdma4j.wire.cm.Mra;
import io.rdma4j.wire.cm.Rej;
import io.rdma4j.wire.cm.Rep;
import io.rdma4j.wire.cm.Req;
import io.rdma4j.wire.cm.ReqBuilder;
import io.rdma4j.wire.cm.Rtu;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Random;
import java.util.Set;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/**
 * An agent that replaces one of two captured Linux hosts. It receives the messages of that host and must send the same
 * ones, byte for byte except for the transaction IDs of its requests. (An RTU repeats the ID of its side's REQ.)
 */
class CmCaptureTest {
    private static final Gid A = Gid.ofIpv4(0x0a58_0001);
    private static final Gid B = Gid.ofIpv4(0x0a58_0002);

    // Frames of cmfuzz for which rdma4j deliberately differs from Linux. A MAD must be complete. The sender of a REQ
    // must be that of the packet. A duplicate REQ is answered immediately. The rejection of an address names the right
    // one.
    private static final Set<Integer> SHORT_MADS = Set.of(75, 78);

    private static final int DUPLICATE_REQ_AFTER_REP = 87;
    private static final Set<Integer> GID_OF_REJECT_12 = Set.of(9, 15);
    private static final Set<Integer> FOREIGN_SENDERS = Set.of(11, 13);

    /** Replaces the captured host, with the same identifiers and the same decisions of its application. */
    private static final class CapturedHost {
        final CmAgent agent;
        final Gid address;
        final List<String> events = new ArrayList<>();
        final List<CmConnection> connections = new ArrayList<>();
        int nextId;

        @Nullable
        CmMessage decision;

        long now;

        CapturedHost(Gid address, long caGuid, boolean allowForeign) {
            this.address = address;
            Random random = new Random(1);
            agent = new CmAgent(new CmConfiguration(
                    caGuid,
                    () -> {
                        int id = nextId == 0 ? random.nextInt() : nextId;
                        nextId = 0;
                        return id;
                    },
                    100,
                    allowForeign,
                    Long.MAX_VALUE));
        }

        void receive(CapturedMad in) {
            now = in.nanos();
            agent.onDeadline(now);
            handleEvents();
            agent.onMad(now, CmFabric.received(in.from(), address, in.mad()));
            handleEvents();
        }

        void listen(long serviceId) {
            ListenedService<Req> _ = agent.listen(
                    serviceId,
                    (route, request) -> matches(request) ? RequestFilter.Verdict.TAKE : RequestFilter.Verdict.DECLINE,
                    100,
                    this);
        }

        List<MemorySegment> sent() {
            List<MemorySegment> all = new ArrayList<>();
            CmDatagram out = agent.pollTransmit();
            while (out != null) {
                all.add(out.mad());
                out = agent.pollTransmit();
            }
            return all;
        }

        /** Checks what the kernel's rdma_cm checks on behalf of a listener. */
        private boolean matches(Req request) {
            IpCmHeader header = IpCmHeader.parse(request.privateData());
            return header != null
                    && request.transportType() == Req.TRANSPORT_RC
                    && header.destination().equals(address)
                    && isHostAddress(header.source());
        }

        private static boolean isHostAddress(Gid gid) {
            int first = gid.ipv4() >>> 24;
            return gid.isIpv4() && first == 10 && gid.ipv4() != 0x0a58_00ff;
        }

        /** Applies the captured decision of the application or of librdmacm. */
        void decide() {
            CmConnection connection = connections.isEmpty() ? null : connections.getLast();
            if (connection == null || connection.state() != CmState.MRA_REQ_SENT) {
                return;
            }
            if (decision instanceof Rep rep) {
                connection.accept(now, rep);
            } else if (decision instanceof Rej rej) {
                connection.reject(now, RejectReason.ofCode(rej.reason()).orElseThrow(), rej.privateData());
            }
        }

        private void handleEvents() {
            AgentEvent event = agent.pollEvent();
            while (event != null) {
                handle(event);
                event = agent.pollEvent();
            }
        }

        private void handle(AgentEvent event) {
            switch (event) {
                case AgentEvent.Requested requested -> {
                    events.add("request");
                    connections.add(requested.connection());
                }
                case AgentEvent.Replied replied -> {
                    events.add("reply");
                    replied.connection().sendReadyToUse(now);
                }
                case AgentEvent.ReadyToUse _ -> events.add("ready");
                case AgentEvent.Rejected rejected ->
                    events.add("reject " + rejected.reject().reason());
                case AgentEvent.Discarded _ -> events.add("discarded");
                case AgentEvent.Unreachable _ -> events.add("unreachable");
                case AgentEvent.DisconnectRequested requested -> {
                    events.add("disconnect request");
                    requested.connection().disconnect(now);
                }
                case AgentEvent.Disconnected _ -> events.add("disconnected");
                case AgentEvent.TimewaitExit _ -> events.add("timewait exit");
                case AgentEvent.Opened _, AgentEvent.Closed _ -> {}
                case AgentEvent.ServiceRequested _, AgentEvent.OfResolution _ ->
                    throw new AssertionError("no datagram service is used: " + event);
            }
        }
    }

    private static long guid(Gid address) {
        return address.equals(A) ? 0x5054_00ff_fe88_0001L : 0x5054_00ff_fe88_0002L;
    }

    private static void assertSame(MemorySegment ours, CapturedMad linux) {
        CmMessage expected = linux.message();
        MemorySegment copy = MemorySegment.ofArray(new byte[CmMad.LENGTH]).copyFrom(ours);
        if (expected instanceof Req || expected instanceof Rtu || expected instanceof Dreq) {
            MemorySegment.copy(linux.mad(), 8, copy, 8, 8);
        }
        assertThat(CmMessage.parse(copy, 0, CmMad.LENGTH))
                .as("frame %d", linux.number())
                .isEqualTo(expected);
        assertThat(copy.mismatch(linux.mad()))
                .as("first different byte of frame %d", linux.number())
                .isEqualTo(-1);
    }

    private static ReqBuilder rebuild(Req r) {
        return Req.builder()
                .serviceId(r.serviceId())
                .localQueuePair(r.localQueuePair())
                .responderResources(r.responderResources())
                .initiatorDepth(r.initiatorDepth())
                .endToEndFlowControl(r.endToEndFlowControl())
                .startingPsn(r.startingPsn())
                .retryCount(r.retryCount())
                .rnrRetryCount(r.rnrRetryCount())
                .primaryPath(r.primaryPath())
                .privateData(r.privateData());
    }

    private static int idIn(CmMessage message) {
        return switch (message) {
            case Rep rep -> rep.localCommunicationId();
            case Rej rej -> rej.localCommunicationId();
            case Mra mra -> mra.localCommunicationId();
            default -> 0;
        };
    }

    @ParameterizedTest
    @CsvSource({"rping, request ready disconnect request", "dead, request ready disconnect request"})
    void passiveSideSendsTheMessagesOfLinux(String file, String events) {
        List<CapturedMad> mads = CapturedMads.read(file);
        CapturedHost host = new CapturedHost(B, guid(B), false);
        host.listen(((Req) mads.getFirst().message()).serviceId());
        host.nextId = idIn(mads.get(1).message());
        host.decision = mads.get(1).message();
        int compared = 0;
        for (int i = 0; i < mads.size(); i++) {
            if (mads.get(i).to().equals(B)) {
                host.receive(mads.get(i));
                host.decide();
                List<MemorySegment> sent = host.sent();
                boolean answered = i + 1 < mads.size() && mads.get(i + 1).from().equals(B);
                assertThat(sent).hasSize(answered ? 1 : 0);
                if (answered) {
                    assertSame(sent.getFirst(), mads.get(i + 1));
                    compared++;
                }
            }
        }
        assertThat(compared).isEqualTo(2);
        assertThat(String.join(" ", host.events)).isEqualTo(events);
        host.agent.onDeadline(host.now + 3 * CmFabric.SECOND);
        assertThat(host.agent.table.isEmpty()).isTrue();
    }

    @ParameterizedTest
    @CsvSource({"rping, reply disconnected", "dead, reply disconnected", "rej, reject 28", "nolisten, reject 8"})
    void activeSideSendsTheMessagesOfLinux(String file, String events) {
        List<CapturedMad> mads = CapturedMads.read(file);
        CapturedHost host = new CapturedHost(A, guid(A), false);
        host.now = mads.getFirst().nanos();
        Req first = (Req) mads.getFirst().message();
        host.nextId = first.localCommunicationId();
        CmConnection connection = host.agent.connect(host.now, rebuild(first), 0, host);
        for (CapturedMad mad : mads) {
            if (mad.to().equals(A)) {
                assertThat(host.agent.pollTransmit()).isNull();
                host.receive(mad);
            } else {
                if (mad.message() instanceof Dreq) {
                    connection.disconnect(host.now);
                }
                assertSame(requireNonNull(host.agent.pollTransmit()).mad(), mad);
            }
        }
        assertThat(String.join(" ", host.events)).isEqualTo(events);
        host.agent.onDeadline(host.now + 3 * CmFabric.SECOND);
        assertThat(host.agent.table.isEmpty()).isTrue();
    }

    @Test
    void clientOfTwoConnectionsDisconnectsAsLinuxDoes() {
        List<CapturedMad> mads = CapturedMads.read("ucmatose");
        CapturedHost host = new CapturedHost(A, guid(A), false);
        host.now = mads.getFirst().nanos();
        for (CapturedMad mad : mads) {
            if (mad.to().equals(A)) {
                host.receive(mad);
                continue;
            }
            if (mad.message() instanceof Req req) {
                host.nextId = req.localCommunicationId();
                host.agent.connect(host.now, rebuild(req), 0, host);
            }
            assertSame(requireNonNull(host.agent.pollTransmit()).mad(), mad);
        }
        assertThat(host.events).containsExactly("reply", "reply", "disconnect request", "disconnect request");
    }

    @Test
    void mraIsSentForASlowApplicationAsByLinux() {
        List<CapturedMad> mads = CapturedMads.read("noans");
        CapturedHost host = new CapturedHost(B, guid(B), false);
        host.listen(((Req) mads.getFirst().message()).serviceId());
        host.nextId = idIn(mads.get(2).message());
        host.receive(mads.get(0));
        assertThat(host.sent()).isEmpty();
        host.receive(mads.get(1));
        List<MemorySegment> receipt = host.sent();
        assertThat(receipt).hasSize(1);
        assertSame(receipt.getFirst(), mads.get(2));
        host.connections.getFirst().destroy(mads.get(3).nanos());
        List<MemorySegment> reject = host.sent();
        assertThat(reject).hasSize(1);
        assertSame(reject.getFirst(), mads.get(3));
        assertThat(host.events).containsExactly("request");
    }

    @Test
    void retransmissionTimeoutMatchesLinux() {
        List<CapturedMad> mads = CapturedMads.read("noans");
        CapturedHost host = new CapturedHost(A, guid(A), false);
        host.now = mads.getFirst().nanos();
        host.agent.connect(host.now, rebuild((Req) mads.getFirst().message()), 0, host);
        host.sent();
        assertThat(host.agent.nextDeadlineNanos() - host.now).isEqualTo(6_144 * CmFabric.MILLISECOND);
        long linux = mads.get(1).nanos() - mads.get(0).nanos();
        assertThat(linux).isBetween(6_144 * CmFabric.MILLISECOND, 6_144 * CmFabric.MILLISECOND * 112 / 100);
    }

    /** Hand-made requests of every kind; the frame after each holds the response of Linux. */
    @Test
    void unusualRequestsAreAnsweredAsByLinux() {
        List<CapturedMad> mads = CapturedMads.read("cmfuzz");
        CapturedHost host = new CapturedHost(B, guid(B), false);
        host.listen(0x0000_0000_0106_1c06L);
        Set<Integer> compared = new TreeSet<>();
        Set<Integer> different = new HashSet<>();
        for (int i = 0; i < mads.size(); i++) {
            CapturedMad in = mads.get(i);
            if (!in.to().equals(B)) {
                continue;
            }
            CapturedMad answer = i + 1 < mads.size() && mads.get(i + 1).from().equals(B) ? mads.get(i + 1) : null;
            host.decision = answer == null ? null : answer.message();
            host.nextId = host.decision == null ? 0 : idIn(host.decision);
            host.receive(in);
            host.decide();
            List<MemorySegment> sent = host.sent();
            if (isKnownDifference(in, answer, sent)) {
                different.add(in.number());
            } else if (answer == null) {
                assertThat(sent).as("response to frame %d", in.number()).isEmpty();
            } else {
                assertThat(sent).as("response to frame %d", in.number()).hasSize(1);
                assertSame(sent.getFirst(), answer);
                compared.add(answer.number());
            }
        }
        assertThat(different).containsExactlyInAnyOrder(9, 11, 13, 15, 75, 78, 87);
        assertThat(compared).hasSizeGreaterThan(25);
        assertThat(host.agent.counters().foreignRequestsDropped).isEqualTo(3); // 8, 11 and 13
        assertThat(host.agent.counters().malformedDropped).isEqualTo(3 + SHORT_MADS.size());
        assertThat(host.agent.counters().wrongQueuePairDropped).isEqualTo(1);
    }

    /** Returns whether a frame is one of the known differences, and asserts the difference. */
    private static boolean isKnownDifference(CapturedMad in, @Nullable CapturedMad answer, List<MemorySegment> sent) {
        if (SHORT_MADS.contains(in.number()) || FOREIGN_SENDERS.contains(in.number())) {
            assertThat(sent).as("short or foreign frame %d", in.number()).isEmpty();
            return true;
        }
        if (in.number() == DUPLICATE_REQ_AFTER_REP) {
            assertThat(sent).hasSize(1);
            assertThat(CmMad.attributeId(sent.getFirst(), 0)).isEqualTo(0x13);
            return true;
        }
        if (GID_OF_REJECT_12.contains(in.number()) && answer != null) {
            Rej ours = (Rej) requireNonNull(CmMessage.parse(sent.getFirst(), 0, CmMad.LENGTH));
            Rej linux = (Rej) answer.message();
            assertThat(ours.reason()).isEqualTo(linux.reason()).isEqualTo(12);
            assertThat(ours.additionalInformationLength()).isEqualTo(linux.additionalInformationLength());
            return true;
        }
        return false;
    }
}

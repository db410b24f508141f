package io.rdma4j.transport.cm;

import static io.rdma4j.transport.cm.CmFabric.SECOND;
import static org.assertj.core.api.Assertions.assertThat;

import io.rdma4j.value.Gid;
import io.rdma4j.wire.cm.CmMad;
import io.rdma4j.wire.cm.CmMessage;
import io.rdma4j.wire.cm.CmPath;
import io.rdma4j.wire.cm.PrivateData;
import io.rdma4j.wire.cm.Rep;
import io.rdma4j.wire.cm.Req;
import io.rdma4j.wire.cm.Rtu;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.function.Consumer;

/** An agent whose listener accepts every request, and to which tests deliver messages from any address. */
final class CmTarget {
    static final long SERVICE = 0x0106_1c06;
    static final long UNUSED_SERVICE = SERVICE + 1;
    static final Gid SERVER = Gid.ofIpv4(0x0a58_0001);

    /** Acknowledge timeout of a client: packet lifetime and response timeout as in Linux. */
    private static final int ACKNOWLEDGE_TIMEOUT = 19;

    final CmAgent agent;

    /** All messages that the agent has sent. */
    final List<CmMessage> sent = new ArrayList<>();

    /** Called with each request for a datagram service, which nothing answers by itself. */
    Consumer<ServiceRequest> onServiceRequest = request -> {};

    long now = 5 * SECOND;

    CmTarget(CmConfiguration configuration) {
        agent = new CmAgent(configuration);
    }

    /** Accepts every request, and answers every disconnect. */
    private void handleEvents() {
        AgentEvent event = agent.pollEvent();
        while (event != null) {
            if (event instanceof AgentEvent.Requested requested) {
                Rep reply = Rep.builder()
                        .localQueuePair(5)
                        .startingPsn(6)
                        .responderResources(1)
                        .initiatorDepth(1)
                        .targetAcknowledgeDelay(15)
                        .build();
                requested.connection().accept(now, reply);
            } else if (event instanceof AgentEvent.DisconnectRequested requested) {
                boolean _ = requested.connection().disconnect(now);
            } else if (event instanceof AgentEvent.ServiceRequested requested) {
                onServiceRequest.accept(requested.request());
            }
            event = agent.pollEvent();
        }
    }

    static Gid host(int number) {
        return Gid.ofIpv4(0x0a58_0000 + number);
    }

    void listen() {
        ListenedService<Req> _ = agent.listen(SERVICE, (route, request) -> RequestFilter.Verdict.TAKE, 10_000, this);
    }

    static Req request(Gid from, long guid, int id, int queuePair) {
        return request(from, guid, id, queuePair, SERVICE);
    }

    static Req request(Gid from, long guid, int id, int queuePair, long service) {
        return Req.builder()
                .localCommunicationId(id)
                .localCaGuid(guid)
                .localQueuePair(queuePair)
                .serviceId(service)
                .primaryPath(CmPath.roce(from, SERVER, 0, 0, 64, ACKNOWLEDGE_TIMEOUT))
                .build();
    }

    /** Delivers a message to the agent and returns the messages that it sends immediately. */
    List<CmMessage> deliver(Gid from, CmMessage message) {
        MemorySegment mad = MemorySegment.ofArray(new byte[CmMad.LENGTH]);
        message.emit(mad, 0, 5);
        agent.onMad(now, CmFabric.received(from, SERVER, mad));
        handleEvents();
        int before = sent.size();
        collectSent();
        return sent.subList(before, sent.size());
    }

    private void collectSent() {
        CmDatagram out = agent.pollTransmit();
        while (out != null) {
            sent.add(Objects.requireNonNull(CmMessage.parse(out.mad(), 0, CmMad.LENGTH)));
            out = agent.pollTransmit();
        }
    }

    /** Requests a connection and returns the type of the response, or "" if there is none. */
    String requestConnection(Gid from, int id) {
        return kind(deliver(from, request(from, from.low(), id, 0x1000 + id)));
    }

    /** Requests a service without a listener and returns the type of the response, or "" if there is none. */
    String requestUnusedService(Gid from, int id) {
        return kind(deliver(from, request(from, from.low(), id, 0x1000 + id, UNUSED_SERVICE)));
    }

    private static String kind(List<CmMessage> messages) {
        assertThat(messages).hasSizeLessThanOrEqualTo(1);
        return messages.isEmpty() ? "" : messages.getFirst().getClass().getSimpleName();
    }

    /** Establishes a connection and returns the agent's communication ID. */
    int connect(Gid from, int id) {
        Rep rep =
                (Rep) deliver(from, request(from, from.low(), id, 0x1000 + id)).getFirst();
        assertThat(deliver(from, new Rtu(id, rep.localCommunicationId(), PrivateData.EMPTY)))
                .isEmpty();
        return rep.localCommunicationId();
    }

    /** Advances the clock to the given time, firing the agent's deadlines. */
    void runUntil(long end) {
        while (agent.nextDeadlineNanos() <= end) {
            now = Math.max(now, agent.nextDeadlineNanos());
            agent.onDeadline(now);
            handleEvents();
            collectSent();
        }
        now = Math.max(now, end);
    }
}

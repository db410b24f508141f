package io.rdma4j.soft.cm;

import io.rdma4j.cm.CmEvent;
import io.rdma4j.cm.ConnectionEnhancement;
import io.rdma4j.cm.ConnectionParameters;
import io.rdma4j.cm.DatagramParameters;
import io.rdma4j.cm.spi.ConnectionExplanations;
import io.rdma4j.transport.cm.AgentEvent;
import io.rdma4j.transport.cm.ServiceRequest;
import io.rdma4j.transport.cm.ServiceResolution;
import io.rdma4j.value.Gid;
import io.rdma4j.value.QueuePairState;
import io.rdma4j.verbs.AddressVector;
import io.rdma4j.verbs.Errno;
import io.rdma4j.verbs.QueuePairAttributes;
import io.rdma4j.verbs.RdmaException;
import io.rdma4j.wire.FlowLabel;
import io.rdma4j.wire.cm.CmRoute;
import io.rdma4j.wire.cm.IpCmHeader;
import io.rdma4j.wire.cm.PrivateData;
import io.rdma4j.wire.cm.SidrRep;
import java.net.InetSocketAddress;
import org.jspecify.annotations.Nullable;

/**
 * The message exchange of an identifier of a datagram service with its peer: one service resolution (SIDR).
 *
 * <p>Guarded by the engine's lock.
 */
final class DatagramExchange {
    private static final int HOP_LIMIT = 64;

    private final SoftCmId id;
    private final CmService service;
    private final IdAddresses addresses;
    private @Nullable ServiceResolution resolving;
    private @Nullable ServiceRequest request;

    DatagramExchange(SoftCmId id, CmService service, IdAddresses addresses) {
        this.id = id;
        this.service = service;
        this.addresses = addresses;
    }

    /** Returns the attributes that move a datagram queue pair to a state. */
    static QueuePairAttributes queuePairAttributes(QueuePairState target) {
        QueuePairAttributes attributes = new QueuePairAttributes().state(target);
        return switch (target) {
            case INIT -> attributes.partitionKeyIndex(0).port(1).queueKey(DatagramParameters.UDP_QUEUE_KEY);
            case READY_TO_SEND -> attributes.sendPsn(0);
            default -> attributes;
        };
    }

    // ---- active side

    void resolve(long nowNanos, long serviceId, byte[] privateData) {
        LocalEndpoint from = addresses.requireLocalEndpoint();
        Gid to = addresses.peerGid();
        IpCmHeader header = new IpCmHeader(from.gid(), addresses.requireLocal().getPort(), to);
        CmRoute route = new CmRoute(from.gid(), to, addresses.peerScope());
        resolving = service.agent().resolve(nowNanos, route, serviceId, header.with(PrivateData.of(privateData)), this);
    }

    void onEvent(AgentEvent.OfResolution event) {
        switch (event) {
            case AgentEvent.ServiceReplied replied -> onReply(replied.reply());
            case AgentEvent.ServiceUnreachable _ -> onUnreachable();
        }
    }

    private void onReply(SidrRep reply) {
        ConnectionParameters received =
                ConnectionParameters.NONE.withPrivateData(reply.privateData().toByteArray());
        if (reply.status() != SidrRep.STATUS_VALID) {
            id.emit(new CmEvent.Failure(
                    CmEvent.Type.UNREACHABLE,
                    reply.status(),
                    received,
                    ConnectionExplanations.serviceRefused(id.describe(), addresses.peer(), reply.status())));
            return;
        }
        InetSocketAddress local = addresses.requireLocal();
        InetSocketAddress peer = addresses.requirePeer();
        AddressVector addressVector = AddressVector.of(
                        addresses.requireLocalEndpoint().gidIndex(), Gid.of(peer.getAddress()))
                .withDestinationScope(addresses.peerScope())
                .withFlowLabel(FlowLabel.ofPorts(local.getPort(), peer.getPort()))
                .withHopLimit(HOP_LIMIT)
                .withTrafficClass(id.typeOfService());
        DatagramParameters datagram =
                new DatagramParameters(received.privateData(), addressVector, reply.queuePair(), reply.queueKey());
        id.emit(new CmEvent.ServiceResolved(datagram));
    }

    private void onUnreachable() {
        id.emit(new CmEvent.Failure(
                CmEvent.Type.UNREACHABLE,
                -Errno.ETIMEDOUT.number(),
                ConnectionExplanations.noAnswerToRequest(id.describe(), ConnectionExplanations.ROCE_PORT_OPEN)));
    }

    // ---- passive side

    /** Handles a resolution request; returns its event. */
    CmEvent.ConnectRequest onRequest(ServiceRequest received) {
        request = received;
        byte[] privateData =
                received.message().privateData().from(IpCmHeader.LENGTH).toByteArray();
        return new CmEvent.ConnectRequest(
                ConnectionParameters.NONE.withPrivateData(privateData), ConnectionEnhancement.NONE);
    }

    void requestTaken() {
        if (request != null) {
            request.releaseBacklog();
        }
    }

    void accept(long nowNanos, int queuePairNumber, byte[] privateData) {
        requireRequest("rdma_accept")
                .answer(
                        nowNanos,
                        SidrRep.STATUS_VALID,
                        queuePairNumber,
                        DatagramParameters.UDP_QUEUE_KEY,
                        PrivateData.of(privateData));
    }

    void reject(long nowNanos, byte[] privateData) {
        requireRequest("rdma_reject").answer(nowNanos, SidrRep.STATUS_REJECTED, 0, 0, PrivateData.of(privateData));
    }

    private ServiceRequest requireRequest(String operation) {
        ServiceRequest current = request;
        if (current == null || current.isAnswered()) {
            throw new RdmaException(
                    operation,
                    Errno.EINVAL,
                    id.describe() + ": there is no request " + (current == null ? "" : "that is not answered yet"),
                    "Answer the identifier of a CONNECT_REQUEST, once");
        }
        return current;
    }

    // ---- end

    void destroy(long nowNanos) {
        if (resolving != null) {
            resolving.cancel();
        }
        if (request != null) {
            request.destroy(nowNanos);
        }
    }
}

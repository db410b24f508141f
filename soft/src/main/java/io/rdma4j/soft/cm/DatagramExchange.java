package io.rdma4j.soft.cm;

import io.rdma4j.cm.CmEvent;
import io.rdma4j.cm.ConnectionParameters;
import io.rdma4j.cm.DatagramParameters;
import io.rdma4j.cm.spi.ProviderEvent;
import io.rdma4j.transport.cm.CmRoute;
import io.rdma4j.transport.cm.ServiceEvents;
import io.rdma4j.transport.cm.ServiceRequest;
import io.rdma4j.transport.cm.ServiceResolution;
import io.rdma4j.verbs.AddressVector;
import io.rdma4j.verbs.Errno;
import io.rdma4j.verbs.Gid;
import io.rdma4j.verbs.QueuePairAttributes;
import io.rdma4j.verbs.QueuePairState;
import io.rdma4j.verbs.RdmaException;
import io.rdma4j.wire.FlowLabel;
import io.rdma4j.wire.cm.IpCmHeader;
import io.rdma4j.wire.cm.PrivateData;
import io.rdma4j.wire.cm.SidrRep;
import java.net.InetSocketAddress;
import org.jspecify.annotations.Nullable;

/**
 * The word that an identifier of a datagram service exchanges with its peer: a question for the service and the answer,
 * and nothing after it (SIDR). Under the host's lock.
 */
final class DatagramExchange implements ServiceEvents {
    private static final int HOP_LIMIT = 64;

    private final SoftCmId id;
    private final CmService service;
    private final IdAddresses addresses;
    private @Nullable ServiceResolution asking;
    private @Nullable ServiceRequest asked;

    DatagramExchange(SoftCmId id, CmService service, IdAddresses addresses) {
        this.id = id;
        this.service = service;
        this.addresses = addresses;
    }

    /** How a queue pair of datagrams becomes ready. */
    static QueuePairAttributes queuePairAttributes(QueuePairState target) {
        QueuePairAttributes attributes = new QueuePairAttributes().state(target);
        return switch (target) {
            case INIT -> attributes.partitionKeyIndex(0).port(1).queueKey(DatagramParameters.UDP_QUEUE_KEY);
            case READY_TO_SEND -> attributes.sendPsn(0);
            default -> attributes;
        };
    }

    // ---- active side

    void ask(long nowNanos, long serviceId, byte[] privateData) {
        LocalEndpoint from = addresses.requireLocalEndpoint();
        io.rdma4j.wire.Gid to = addresses.peerGid();
        IpCmHeader header =
                new IpCmHeader(from.wireGid(), addresses.requireLocal().getPort(), to);
        CmRoute route = new CmRoute(from.wireGid(), to, addresses.peerScope());
        asking = service.agent().resolve(nowNanos, route, serviceId, header.with(PrivateData.of(privateData)), this);
    }

    @Override
    public void onReply(ServiceResolution resolution, SidrRep reply) {
        ConnectionParameters said =
                ConnectionParameters.NONE.withPrivateData(reply.privateData().toByteArray());
        if (reply.status() != SidrRep.STATUS_VALID) {
            id.emit(new ProviderEvent(
                    CmEvent.Type.UNREACHABLE,
                    reply.status(),
                    said,
                    ConnectionExplanations.serviceRefused(id.describe(), addresses.peer(), reply.status())));
            return;
        }
        InetSocketAddress local = addresses.requireLocal();
        InetSocketAddress peer = addresses.requirePeer();
        AddressVector way = new AddressVector(
                addresses.requireLocalEndpoint().gidIndex(),
                Gid.of(peer.getAddress()),
                addresses.peerScope(),
                FlowLabel.ofPorts(local.getPort(), peer.getPort()),
                HOP_LIMIT,
                id.typeOfService(),
                1);
        DatagramParameters datagram =
                new DatagramParameters(said.privateData(), way, reply.queuePair(), reply.queueKey());
        id.emit(new ProviderEvent(CmEvent.Type.ESTABLISHED, 0, said, datagram));
    }

    @Override
    public void onUnreachable(ServiceResolution resolution) {
        id.emit(new ProviderEvent(
                CmEvent.Type.UNREACHABLE,
                -Errno.ETIMEDOUT.number(),
                ConnectionParameters.NONE,
                ConnectionExplanations.noAnswerToRequest(id.describe())));
    }

    // ---- passive side

    void asked(ServiceRequest request) {
        asked = request;
    }

    void requestTaken() {
        if (asked != null) {
            asked.releaseBacklog();
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
        ServiceRequest request = asked;
        if (request == null || request.isAnswered()) {
            throw new RdmaException(
                    operation,
                    Errno.EINVAL,
                    id.describe() + ": there is no request " + (request == null ? "" : "that is not answered yet"),
                    "Answer the identifier of a CONNECT_REQUEST, once");
        }
        return request;
    }

    // ---- end

    void part(long nowNanos) {
        if (asking != null) {
            asking.cancel();
        }
        if (asked != null) {
            asked.destroy(nowNanos);
        }
    }
}

package io.rdma4j.soft.cm;

import io.rdma4j.value.AccessFlag;
import io.rdma4j.value.Gid;
import io.rdma4j.value.PathMtu;
import io.rdma4j.value.QueuePairState;
import io.rdma4j.value.QueuePairType;
import io.rdma4j.verbs.AddressVector;
import io.rdma4j.verbs.QueuePairAttributes;
import io.rdma4j.wire.cm.CmPath;
import io.rdma4j.wire.cm.Rep;
import io.rdma4j.wire.cm.Req;
import java.util.EnumSet;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * The parameters of a connection's queue pair, from the messages of the connection, as seen from this side.
 *
 * <p>They are built when the necessary messages have been received: on the passive side from the REQ, on the active side from its
 * own REQ and the peer's REP.
 *
 * @param peerQueuePair the peer's queue pair
 * @param peer the peer's GID
 * @param peerScope interface index of a link-local peer, otherwise 0
 * @param flowLabel flow label of the path
 * @param hopLimit hop limit of the path
 * @param trafficClass traffic class of the path
 * @param pathMtu path MTU that both sides use
 * @param receivePsn first PSN that the peer sends
 * @param sendPsn first PSN that this side sends
 * @param responderResources outstanding READs of the peer that this side serves
 * @param initiatorDepth outstanding READs of this side
 * @param retryCount retries without acknowledgement
 * @param rnrRetryCount retries when the receiver is not ready
 * @param ackTimeout exponent of the acknowledgement timeout
 */
record ConnectionAttributes(
        int peerQueuePair,
        Gid peer,
        int peerScope,
        int flowLabel,
        int hopLimit,
        int trafficClass,
        PathMtu pathMtu,
        int receivePsn,
        int sendPsn,
        int responderResources,
        int initiatorDepth,
        int retryCount,
        int rnrRetryCount,
        int ackTimeout) {
    private static final int HOP_LIMIT = 64;

    /** Returns the view of the side that received the REQ. This side chooses {@code receivePsn} and sends it in the REP. */
    static ConnectionAttributes passive(Req request, int scope, int receivePsn) {
        CmPath path = request.primaryPath();
        return new ConnectionAttributes(
                request.localQueuePair(),
                path.localGid(),
                scope,
                path.flowLabel(),
                HOP_LIMIT,
                path.trafficClass(),
                PathMtu.ofCode(request.pathMtu()),
                receivePsn,
                request.startingPsn(),
                /* responderResources= */ request.initiatorDepth(),
                /* initiatorDepth= */ request.responderResources(),
                request.retryCount(),
                request.rnrRetryCount(),
                path.acknowledgeTimeout());
    }

    /**
     * Returns the view of the side that sent the REQ, after it has received the REP.
     *
     * @param retryCount the application's choice: the REQ of an extended connection does not contain it
     */
    static ConnectionAttributes active(Req request, Rep reply, int scope, int retryCount, int ackTimeout) {
        CmPath path = request.primaryPath();
        return new ConnectionAttributes(
                reply.queuePair(request),
                path.remoteGid(),
                scope,
                path.flowLabel(),
                path.hopLimit(),
                path.trafficClass(),
                PathMtu.ofCode(request.pathMtu()),
                request.startingPsn(),
                reply.startingPsn(),
                /* responderResources= */ reply.initiatorDepth(),
                /* initiatorDepth= */ reply.responderResources(),
                retryCount,
                reply.rnrRetryCount(),
                ackTimeout);
    }

    /** Returns a copy with the depths that this side has chosen. */
    ConnectionAttributes withDepths(int newResponderResources, int newInitiatorDepth) {
        return new ConnectionAttributes(
                peerQueuePair,
                peer,
                peerScope,
                flowLabel,
                hopLimit,
                trafficClass,
                pathMtu,
                receivePsn,
                sendPsn,
                newResponderResources,
                newInitiatorDepth,
                retryCount,
                rnrRetryCount,
                ackTimeout);
    }

    /**
     * Returns the attributes for INIT. Before the messages are received, the peer has no rights; afterwards it has the rights
     * that Linux grants.
     */
    static QueuePairAttributes toInit(@Nullable ConnectionAttributes known) {
        return new QueuePairAttributes()
                .state(QueuePairState.INIT)
                .partitionKeyIndex(0)
                .port(1)
                .accessFlags(rights(known));
    }

    private static Set<AccessFlag> rights(@Nullable ConnectionAttributes known) {
        EnumSet<AccessFlag> rights = EnumSet.noneOf(AccessFlag.class);
        if (known != null) {
            rights.add(AccessFlag.REMOTE_WRITE);
            if (known.responderResources > 0) {
                rights.add(AccessFlag.REMOTE_READ);
                rights.add(AccessFlag.REMOTE_ATOMIC);
                rights.add(AccessFlag.FLUSH_GLOBAL);
                rights.add(AccessFlag.FLUSH_PERSISTENT);
            }
        }
        return rights;
    }

    /** Returns the attributes that move a queue pair of a type to READY_TO_RECEIVE. */
    QueuePairAttributes toReadyToReceive(QueuePairType type, int sourceGidIndex) {
        QueuePairAttributes attributes = new QueuePairAttributes()
                .state(QueuePairState.READY_TO_RECEIVE)
                .addressVector(AddressVector.of(sourceGidIndex, peer)
                        .withDestinationScope(peerScope)
                        .withFlowLabel(flowLabel)
                        .withHopLimit(hopLimit)
                        .withTrafficClass(trafficClass))
                .pathMtu(pathMtu)
                .destinationQueuePair(peerQueuePair)
                .receivePsn(receivePsn);
        boolean serves = type == QueuePairType.RELIABLE_CONNECTION || type == QueuePairType.XRC_RECEIVE;
        return serves ? attributes.maxDestinationReadAtomic(responderResources).minRnrTimer(0) : attributes;
    }

    /**
     * Returns the attributes that move a queue pair of a type to READY_TO_SEND.
     *
     * @param chosenTimeout the application's acknowledgement timeout, or -1 for the timeout that the messages imply
     */
    QueuePairAttributes toReadyToSend(QueuePairType type, int chosenTimeout) {
        QueuePairAttributes attributes =
                new QueuePairAttributes().state(QueuePairState.READY_TO_SEND).sendPsn(sendPsn);
        if (type == QueuePairType.UNRELIABLE_CONNECTION) {
            return attributes;
        }
        attributes.timeout(chosenTimeout < 0 ? ackTimeout : chosenTimeout);
        return type == QueuePairType.XRC_RECEIVE
                ? attributes
                : attributes.retryCount(retryCount).rnrRetry(rnrRetryCount).maxReadAtomic(initiatorDepth);
    }
}

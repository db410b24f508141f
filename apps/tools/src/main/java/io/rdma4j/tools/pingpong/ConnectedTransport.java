package io.rdma4j.tools.pingpong;

import io.rdma4j.value.QueuePairState;
import io.rdma4j.value.QueuePairType;
import io.rdma4j.verbs.AddressVector;
import io.rdma4j.verbs.CompletionQueue;
import io.rdma4j.verbs.ProtectionDomain;
import io.rdma4j.verbs.QueuePair;
import io.rdma4j.verbs.QueuePairAttributes;
import java.util.List;
import java.util.Set;

/**
 * A reliable connection with the timeouts of {@code ibv_rc_pingpong}, or an unreliable one as in {@code
 * ibv_uc_pingpong}.
 */
final class ConnectedTransport implements PingpongTransport {
    private static final int HOP_LIMIT = 1;
    private static final int MIN_RNR_TIMER = 12;
    private static final int TIMEOUT = 14;
    private static final int RETRIES = 7;

    private final boolean reliable;

    ConnectedTransport(boolean reliable) {
        this.reliable = reliable;
    }

    @Override
    public boolean isReliable() {
        return reliable;
    }

    @Override
    public QueuePair create(ProtectionDomain domain, CompletionQueue completions, PingpongOptions options) {
        QueuePairType type = reliable ? QueuePairType.RELIABLE_CONNECTION : QueuePairType.UNRELIABLE_CONNECTION;
        return PingpongTransport.create(type, domain, completions, options);
    }

    @Override
    public void initialise(QueuePair queuePair, PingpongOptions options) {
        queuePair.modify(new QueuePairAttributes()
                .state(QueuePairState.INIT)
                .partitionKeyIndex(0)
                .port(options.port())
                .accessFlags(Set.of()));
    }

    @Override
    public List<Step> connect(
            QueuePair queuePair,
            PingpongOptions options,
            int gidIndex,
            PingPongDestination local,
            PingPongDestination remote) {
        return List.of(
                new Step(
                        "Failed to modify QP to RTR",
                        true,
                        () -> queuePair.modify(readyToReceive(options, gidIndex, remote))),
                new Step("Failed to modify QP to RTS", false, () -> queuePair.modify(readyToSend(local))));
    }

    private QueuePairAttributes readyToReceive(PingpongOptions options, int gidIndex, PingPongDestination remote) {
        QueuePairAttributes attributes = new QueuePairAttributes()
                .state(QueuePairState.READY_TO_RECEIVE)
                .addressVector(AddressVector.of(gidIndex, remote.gid())
                        .withHopLimit(HOP_LIMIT)
                        .withServiceLevel(options.serviceLevel())
                        .withPort(options.port()))
                .pathMtu(options.mtu())
                .destinationQueuePair(remote.queuePair())
                .receivePsn(remote.psn());
        return reliable ? attributes.maxDestinationReadAtomic(1).minRnrTimer(MIN_RNR_TIMER) : attributes;
    }

    private QueuePairAttributes readyToSend(PingPongDestination local) {
        QueuePairAttributes attributes =
                new QueuePairAttributes().state(QueuePairState.READY_TO_SEND).sendPsn(local.psn());
        return reliable
                ? attributes
                        .timeout(TIMEOUT)
                        .retryCount(RETRIES)
                        .rnrRetry(RETRIES)
                        .maxReadAtomic(1)
                : attributes;
    }
}

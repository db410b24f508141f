package io.rdma4j.tools.pingpong;

import io.rdma4j.verbs.AddressVector;
import io.rdma4j.verbs.CompletionQueue;
import io.rdma4j.verbs.ProtectionDomain;
import io.rdma4j.verbs.QueuePair;
import io.rdma4j.verbs.QueuePairAttributes;
import io.rdma4j.verbs.QueuePairCapabilities;
import io.rdma4j.verbs.QueuePairInitAttributes;
import io.rdma4j.verbs.QueuePairState;
import java.util.Set;

/** A reliable connection with the timings of {@code ibv_rc_pingpong}. */
final class ReliableTransport implements PingpongTransport {
    private static final int HOP_LIMIT = 1;
    private static final int MIN_RNR_TIMER = 12;
    private static final int TIMEOUT = 14;
    private static final int RETRIES = 7;

    @Override
    public QueuePair create(ProtectionDomain domain, CompletionQueue completions, PingpongOptions options) {
        return domain.createQueuePair(QueuePairInitAttributes.reliable(
                completions, new QueuePairCapabilities(1, options.receiveDepth(), 1, 1, 0)));
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
    public void readyToReceive(QueuePair queuePair, PingpongOptions options, int gidIndex, Destination remote) {
        queuePair.modify(new QueuePairAttributes()
                .state(QueuePairState.READY_TO_RECEIVE)
                .addressVector(new AddressVector(gidIndex, remote.gid(), 0, 0, HOP_LIMIT, 0, options.port()))
                .pathMtu(options.mtu())
                .destinationQueuePair(remote.queuePair())
                .receivePsn(remote.psn())
                .maxDestinationReadAtomic(1)
                .minRnrTimer(MIN_RNR_TIMER));
    }

    @Override
    public void readyToSend(QueuePair queuePair, Destination local) {
        queuePair.modify(new QueuePairAttributes()
                .state(QueuePairState.READY_TO_SEND)
                .timeout(TIMEOUT)
                .retryCount(RETRIES)
                .rnrRetry(RETRIES)
                .sendPsn(local.psn())
                .maxReadAtomic(1));
    }
}

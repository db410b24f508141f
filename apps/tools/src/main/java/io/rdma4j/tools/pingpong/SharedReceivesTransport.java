package io.rdma4j.tools.pingpong;

import io.rdma4j.value.QueuePairType;
import io.rdma4j.verbs.CompletionQueue;
import io.rdma4j.verbs.DeviceContext;
import io.rdma4j.verbs.OnDemandOperation;
import io.rdma4j.verbs.ProtectionDomain;
import io.rdma4j.verbs.QueuePair;
import io.rdma4j.verbs.QueuePairCapabilities;
import io.rdma4j.verbs.QueuePairInitAttributes;
import io.rdma4j.verbs.ReceiveWorkRequest;
import io.rdma4j.verbs.SharedReceiveQueue;
import io.rdma4j.verbs.SharedReceiveQueueInitAttributes;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/** Reliable connections with a shared receive queue, as in {@code ibv_srq_pingpong}. */
final class SharedReceivesTransport implements PingpongTransport {
    /** The number of addresses that C's tool exchanges, used or not. */
    static final int ADDRESSES = 256;

    private final ConnectedTransport connections = new ConnectedTransport(true);
    private final List<QueuePair> created = new ArrayList<>();
    private @Nullable SharedReceiveQueue receives;

    @Override
    public boolean isReliable() {
        return true;
    }

    @Override
    public int addresses() {
        return ADDRESSES;
    }

    @Override
    public String label(int index) {
        return "QP[" + index + "]";
    }

    @Override
    public byte fill() {
        return 0;
    }

    @Override
    public @Nullable String refusal(DeviceContext context, PingpongOptions options) {
        return PingpongTransport.onDemandRefusal(
                context,
                options.onDemand(),
                QueuePairType.RELIABLE_CONNECTION,
                OnDemandOperation.SHARED_RECEIVE,
                "RC send, receive and srq");
    }

    @Override
    public List<Step> prepare(ProtectionDomain domain, PingpongOptions options) {
        SharedReceiveQueueInitAttributes sizes = SharedReceiveQueueInitAttributes.of(options.receiveDepth(), 1);
        return List.of(new Step("Couldn't create SRQ", false, () -> receives = domain.createSharedReceiveQueue(sizes)));
    }

    @Override
    public void postReceive(QueuePair queuePair, ReceiveWorkRequest request) {
        Objects.requireNonNull(receives).postReceive(request);
    }

    @Override
    public QueuePair create(ProtectionDomain domain, CompletionQueue completions, PingpongOptions options) {
        QueuePair queuePair = domain.createQueuePair(
                QueuePairInitAttributes.reliable(completions, new QueuePairCapabilities(1, 0, 1, 0, 0))
                        .withSharedReceiveQueue(receives));
        created.add(queuePair);
        return queuePair;
    }

    @Override
    public void initialise(QueuePair queuePair, PingpongOptions options) {
        connections.initialise(queuePair, options);
    }

    @Override
    public List<Step> connect(
            QueuePair queuePair,
            PingpongOptions options,
            int gidIndex,
            PingPongDestination local,
            PingPongDestination remote) {
        String label = label(created.indexOf(queuePair));
        return connections.connect(queuePair, options, gidIndex, local, remote).stream()
                .map(step -> new Step(step.failure().replace("QP", label), step.needsGid(), step.action()))
                .toList();
    }
}

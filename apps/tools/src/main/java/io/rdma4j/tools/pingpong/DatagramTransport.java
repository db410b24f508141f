package io.rdma4j.tools.pingpong;

import io.rdma4j.value.QueuePairState;
import io.rdma4j.value.QueuePairType;
import io.rdma4j.verbs.AddressHandle;
import io.rdma4j.verbs.AddressVector;
import io.rdma4j.verbs.CompletionQueue;
import io.rdma4j.verbs.DeviceContext;
import io.rdma4j.verbs.ProtectionDomain;
import io.rdma4j.verbs.QueuePair;
import io.rdma4j.verbs.QueuePairAttributes;
import io.rdma4j.verbs.RdmaException;
import io.rdma4j.verbs.SendWorkRequest;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/** Datagrams as in {@code ibv_ud_pingpong}. */
final class DatagramTransport implements PingpongTransport {
    private static final int HEADER_BYTES = 40;
    private static final int HOP_LIMIT = 64;
    private static final int QUEUE_KEY = 0x1111_1111;

    private @Nullable AddressHandle handle;
    private int remoteQueuePair;

    @Override
    public boolean isReliable() {
        return false;
    }

    @Override
    public int headerBytes() {
        return HEADER_BYTES;
    }

    @Override
    public @Nullable String refusal(DeviceContext context, PingpongOptions options) {
        int mtu;
        try {
            mtu = context.port(options.port()).activeMtu().bytes();
        } catch (RdmaException e) {
            return "Unable to query port info for port " + options.port();
        }
        return options.sizeBytes() > mtu ? "Requested size larger than port MTU (" + mtu + ")" : null;
    }

    @Override
    public QueuePair create(ProtectionDomain domain, CompletionQueue completions, PingpongOptions options) {
        return PingpongTransport.create(QueuePairType.UNRELIABLE_DATAGRAM, domain, completions, options);
    }

    @Override
    public void initialise(QueuePair queuePair, PingpongOptions options) {
        queuePair.modify(new QueuePairAttributes()
                .state(QueuePairState.INIT)
                .partitionKeyIndex(0)
                .port(options.port())
                .queueKey(QUEUE_KEY));
    }

    @Override
    public List<Step> connect(
            QueuePair queuePair,
            PingpongOptions options,
            int gidIndex,
            PingPongDestination local,
            PingPongDestination remote) {
        QueuePairAttributes receive = new QueuePairAttributes().state(QueuePairState.READY_TO_RECEIVE);
        QueuePairAttributes send =
                new QueuePairAttributes().state(QueuePairState.READY_TO_SEND).sendPsn(local.psn());
        AddressVector path = AddressVector.of(gidIndex, remote.gid())
                .withHopLimit(HOP_LIMIT)
                .withServiceLevel(options.serviceLevel())
                .withPort(options.port());
        remoteQueuePair = remote.queuePair();
        return List.of(
                new Step("Failed to modify QP to RTR", false, () -> queuePair.modify(receive)),
                new Step("Failed to modify QP to RTS", false, () -> queuePair.modify(send)),
                new Step(
                        "Failed to create AH",
                        true,
                        () -> handle = queuePair.protectionDomain().createAddressHandle(path)));
    }

    @Override
    public void address(SendWorkRequest send) {
        send.to(Objects.requireNonNull(handle), remoteQueuePair, QUEUE_KEY);
    }

    @Override
    public String missingGid(int gidIndex) {
        return "Could not get local gid for gid index " + gidIndex;
    }

    /** Returns C's text, which has a colon where the other tools have a comma. */
    @Override
    public String localText(PingPongDestination local) {
        return local.toString().replace(", GID", ": GID");
    }
}

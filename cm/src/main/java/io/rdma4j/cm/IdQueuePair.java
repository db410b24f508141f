package io.rdma4j.cm;

import io.rdma4j.cm.spi.ProviderCmId;
import io.rdma4j.verbs.CompletionChannel;
import io.rdma4j.verbs.CompletionQueue;
import io.rdma4j.verbs.DeviceContext;
import io.rdma4j.verbs.ProtectionDomain;
import io.rdma4j.verbs.QueuePair;
import io.rdma4j.verbs.QueuePairAttribute;
import io.rdma4j.verbs.QueuePairAttributes;
import io.rdma4j.verbs.QueuePairCapabilities;
import io.rdma4j.verbs.QueuePairInitAttributes;
import io.rdma4j.verbs.QueuePairState;
import io.rdma4j.verbs.QueuePairType;
import io.rdma4j.verbs.SharedReceiveQueue;
import org.jspecify.annotations.Nullable;

/** The queue pair of an identifier with the completion queues made for it, and its way through the states. */
final class IdQueuePair {
    private final @Nullable CompletionChannel sendChannel;
    private final @Nullable CompletionChannel receiveChannel;
    private final @Nullable CompletionQueue ownSendQueue;
    private final @Nullable CompletionQueue ownReceiveQueue;
    private final QueuePair queuePair;

    private IdQueuePair(
            @Nullable CompletionChannel sendChannel,
            @Nullable CompletionChannel receiveChannel,
            @Nullable CompletionQueue ownSendQueue,
            @Nullable CompletionQueue ownReceiveQueue,
            QueuePair queuePair) {
        this.sendChannel = sendChannel;
        this.receiveChannel = receiveChannel;
        this.ownSendQueue = ownSendQueue;
        this.ownReceiveQueue = ownReceiveQueue;
        this.queuePair = queuePair;
    }

    /** Makes completion queues where the attributes have none, then the queue pair, and takes it to INIT; datagrams' to ready-to-send. */
    static IdQueuePair create(
            CmId id, ProviderCmId provider, ProtectionDomain domain, CmQueuePairAttributes attributes) {
        DeviceContext context = domain.context();
        QueuePairType type = id.queuePairType();
        QueuePairCapabilities sizes = attributes.capabilities();
        SharedReceiveQueue shared = attributes.sharedReceiveQueue();
        Made made = new Made();
        try {
            CompletionQueue send = attributes.sendCompletions();
            if (send == null) {
                made.sendChannel = context.createCompletionChannel();
                made.sendQueue =
                        context.createCompletionQueue(Math.max(1, sizes.maxSendWorkRequests()), id, made.sendChannel);
                send = made.sendQueue;
            }
            CompletionQueue receive = attributes.receiveCompletions();
            if (receive == null) {
                made.receiveChannel = context.createCompletionChannel();
                int receives = shared == null
                        ? sizes.maxReceiveWorkRequests()
                        : shared.query().maxWorkRequests();
                made.receiveQueue = context.createCompletionQueue(Math.max(1, receives), id, made.receiveChannel);
                receive = made.receiveQueue;
            }
            made.queuePair = domain.createQueuePair(new QueuePairInitAttributes(
                    type,
                    send,
                    receive,
                    sizes,
                    attributes.signalAll(),
                    attributes.context(),
                    shared,
                    attributes.xrcDomain()));
            made.queuePair.modify(provider.initQueuePairAttributes(QueuePairState.INIT));
            if (type == QueuePairType.UNRELIABLE_DATAGRAM) {
                made.queuePair.modify(provider.initQueuePairAttributes(QueuePairState.READY_TO_RECEIVE));
                made.queuePair.modify(provider.initQueuePairAttributes(QueuePairState.READY_TO_SEND));
            }
            return new IdQueuePair(
                    made.sendChannel, made.receiveChannel, made.sendQueue, made.receiveQueue, made.queuePair);
        } catch (RuntimeException | Error failed) {
            IdQueues.inTurnAfter(failed, made::close);
            throw failed;
        }
    }

    /** What has been made so far, to be taken back on failure. */
    private static final class Made {
        @Nullable
        CompletionChannel sendChannel;

        @Nullable
        CompletionChannel receiveChannel;

        @Nullable
        CompletionQueue sendQueue;

        @Nullable
        CompletionQueue receiveQueue;

        @Nullable
        QueuePair queuePair;

        void close() {
            closeAll(queuePair, sendQueue, receiveQueue, sendChannel, receiveChannel);
        }
    }

    private static void closeAll(
            @Nullable QueuePair queuePair,
            @Nullable CompletionQueue sendQueue,
            @Nullable CompletionQueue receiveQueue,
            @Nullable CompletionChannel sendChannel,
            @Nullable CompletionChannel receiveChannel) {
        if (queuePair != null) {
            queuePair.close();
        }
        IdQueues.inTurn(() -> close(sendQueue, sendChannel), () -> close(receiveQueue, receiveChannel));
    }

    private static void close(@Nullable CompletionQueue queue, @Nullable CompletionChannel channel) {
        if (queue != null) {
            queue.close();
        }
        if (channel != null) {
            channel.close();
        }
    }

    QueuePair queuePair() {
        return queuePair;
    }

    @Nullable
    CompletionChannel sendChannel() {
        return sendChannel;
    }

    @Nullable
    CompletionChannel receiveChannel() {
        return receiveChannel;
    }

    /**
     * Takes the queue pair to ready-to-send. A type that serves no READs, or has none under way, takes no depth for it.
     *
     * @param responderResources READs of the peer served at a time, or 0xff for what the connection's messages say
     * @param initiatorDepth READs under way, or 0xff for what the connection's messages say
     */
    void toReadyToSend(ProviderCmId provider, int responderResources, int initiatorDepth) {
        queuePair.modify(provider.initQueuePairAttributes(QueuePairState.INIT));
        QueuePairAttributes receive = provider.initQueuePairAttributes(QueuePairState.READY_TO_RECEIVE);
        if (responderResources != ConnectionParameters.DEVICE_MAXIMUM
                && receive.present().contains(QueuePairAttribute.MAX_DESTINATION_READ_ATOMIC)) {
            receive.maxDestinationReadAtomic(responderResources);
        }
        queuePair.modify(receive);
        QueuePairAttributes send = provider.initQueuePairAttributes(QueuePairState.READY_TO_SEND);
        if (initiatorDepth != ConnectionParameters.DEVICE_MAXIMUM
                && send.present().contains(QueuePairAttribute.MAX_READ_ATOMIC)) {
            send.maxReadAtomic(initiatorDepth);
        }
        queuePair.modify(send);
    }

    void toError() {
        queuePair.modify(new QueuePairAttributes().state(QueuePairState.ERROR));
    }

    /** Closes all. Where a completion queue cannot be closed the rest is; then it may be repeated. */
    void close() {
        closeAll(queuePair, ownSendQueue, ownReceiveQueue, sendChannel, receiveChannel);
    }
}

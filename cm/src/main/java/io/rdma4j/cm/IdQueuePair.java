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

/** The queue pair of an identifier with the completion queues created for it, and its state transitions. */
final class IdQueuePair {
    private final @Nullable CompletionChannel sendChannel;
    private final @Nullable CompletionChannel receiveChannel;
    private final @Nullable CompletionQueue createdSendQueue;
    private final @Nullable CompletionQueue createdReceiveQueue;
    private final QueuePair queuePair;

    private IdQueuePair(
            @Nullable CompletionChannel sendChannel,
            @Nullable CompletionChannel receiveChannel,
            @Nullable CompletionQueue createdSendQueue,
            @Nullable CompletionQueue createdReceiveQueue,
            QueuePair queuePair) {
        this.sendChannel = sendChannel;
        this.receiveChannel = receiveChannel;
        this.createdSendQueue = createdSendQueue;
        this.createdReceiveQueue = createdReceiveQueue;
        this.queuePair = queuePair;
    }

    /**
     * Creates the completion queues that the attributes lack, then the queue pair, and moves it to INIT, or to
     * ready-to-send for datagrams.
     */
    static IdQueuePair create(
            CmId id, ProviderCmId provider, ProtectionDomain domain, CmQueuePairAttributes attributes) {
        DeviceContext context = domain.context();
        QueuePairType type = id.queuePairType();
        QueuePairCapabilities sizes = attributes.capabilities();
        SharedReceiveQueue shared = attributes.sharedReceiveQueue();
        Created created = new Created();
        try {
            CompletionQueue send = attributes.sendCompletions();
            if (send == null) {
                created.sendChannel = context.createCompletionChannel();
                created.sendQueue = context.createCompletionQueue(
                        Math.max(1, sizes.maxSendWorkRequests()), id, created.sendChannel);
                send = created.sendQueue;
            }
            CompletionQueue receive = attributes.receiveCompletions();
            if (receive == null) {
                created.receiveChannel = context.createCompletionChannel();
                int receives = shared == null
                        ? sizes.maxReceiveWorkRequests()
                        : shared.query().maxWorkRequests();
                created.receiveQueue = context.createCompletionQueue(Math.max(1, receives), id, created.receiveChannel);
                receive = created.receiveQueue;
            }
            created.queuePair = domain.createQueuePair(new QueuePairInitAttributes(
                    type,
                    send,
                    receive,
                    sizes,
                    attributes.signalAll(),
                    attributes.context(),
                    shared,
                    attributes.xrcDomain()));
            created.queuePair.modify(provider.initQueuePairAttributes(QueuePairState.INIT));
            if (type == QueuePairType.UNRELIABLE_DATAGRAM) {
                created.queuePair.modify(provider.initQueuePairAttributes(QueuePairState.READY_TO_RECEIVE));
                created.queuePair.modify(provider.initQueuePairAttributes(QueuePairState.READY_TO_SEND));
            }
            return new IdQueuePair(
                    created.sendChannel,
                    created.receiveChannel,
                    created.sendQueue,
                    created.receiveQueue,
                    created.queuePair);
        } catch (RuntimeException | Error failed) {
            IdQueues.runAllAfter(failed, created::close);
            throw failed;
        }
    }

    /** The objects created so far, which are closed on failure. */
    private static final class Created {
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
        IdQueues.runAll(() -> close(sendQueue, sendChannel), () -> close(receiveQueue, receiveChannel));
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
     * Moves the queue pair to ready-to-send. A depth is not set for a type without that attribute.
     *
     * @param responderResources number of the peer's READs served concurrently, or 0xff for the value from the
     *     connection's messages
     * @param initiatorDepth number of outstanding READs, or 0xff for the value from the connection's messages
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

    /** Closes everything. If a completion queue cannot be closed, the rest is closed and the call may be repeated. */
    void close() {
        closeAll(queuePair, createdSendQueue, createdReceiveQueue, sendChannel, receiveChannel);
    }
}

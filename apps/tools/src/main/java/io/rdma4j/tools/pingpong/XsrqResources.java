package io.rdma4j.tools.pingpong;

import io.rdma4j.tools.command.ToolFailure;
import io.rdma4j.value.AccessFlag;
import io.rdma4j.value.QueuePairState;
import io.rdma4j.value.QueuePairType;
import io.rdma4j.verbs.AddressVector;
import io.rdma4j.verbs.CompletionChannel;
import io.rdma4j.verbs.CompletionQueue;
import io.rdma4j.verbs.DeviceContext;
import io.rdma4j.verbs.MemoryRegion;
import io.rdma4j.verbs.ProtectionDomain;
import io.rdma4j.verbs.QueuePair;
import io.rdma4j.verbs.QueuePairAttributes;
import io.rdma4j.verbs.QueuePairCapabilities;
import io.rdma4j.verbs.QueuePairInitAttributes;
import io.rdma4j.verbs.SharedReceiveQueue;
import io.rdma4j.verbs.SharedReceiveQueueInitAttributes;
import io.rdma4j.verbs.XrcDomain;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * The resources of one side of ibv_xsrq_pingpong: a shared receive queue, and a target and an initiator for each
 * client. They are closed with the device context.
 *
 * @param region the memory of all messages
 * @param channel the event channel of the receive completions with {@code -e}, otherwise null
 * @param receiveCompletions the completion queue of all receives
 * @param sendCompletions the completion queue of the last message to each client
 * @param receives the shared receive queue
 * @param targets the queue pairs that receive
 * @param initiators the queue pairs that send
 */
record XsrqResources(
        MemoryRegion region,
        @Nullable CompletionChannel channel,
        CompletionQueue receiveCompletions,
        CompletionQueue sendCompletions,
        SharedReceiveQueue receives,
        List<QueuePair> targets,
        List<QueuePair> initiators) {
    private static final int HOP_LIMIT = 5;
    private static final int MIN_RNR_TIMER = 12;
    private static final int TIMEOUT = 14;
    private static final int RETRIES = 7;

    /** Creates the resources, with queue pairs in the INIT state. */
    static XsrqResources create(PingpongCalls calls, DeviceContext context, MemorySegment memory, XsrqOptions options)
            throws ToolFailure {
        int clients = options.clients();
        CompletionChannel channel = options.events()
                ? calls.call("Couldn't create completion channel", context::createCompletionChannel)
                : null;
        ProtectionDomain domain = calls.call("Couldn't allocate PD", context::createProtectionDomain);
        Set<AccessFlag> access = options.onDemand()
                ? Set.of(AccessFlag.LOCAL_WRITE, AccessFlag.ON_DEMAND)
                : Set.of(AccessFlag.LOCAL_WRITE);
        MemoryRegion region = calls.call("Couldn't register MR", () -> domain.register(memory, access));
        XrcDomain extended = calls.call((int errno) -> "Couldn't Open the XRC Domain " + errno, context::openXrcDomain);
        CompletionQueue received =
                calls.call("Couldn't create recv CQ", () -> context.createCompletionQueue(clients, null, channel, 0));
        if (channel != null) {
            calls.step("Couldn't request CQ notification", () -> received.requestNotification(false));
        }
        CompletionQueue sent = calls.call("Couldn't create send CQ", () -> context.createCompletionQueue(clients));
        SharedReceiveQueue receives = calls.call(
                "Couldn't create SRQ",
                () -> domain.createSharedReceiveQueue(SharedReceiveQueueInitAttributes.of(clients, 1)
                        .withXrcDomain(extended)
                        .withCompletions(received)));
        List<QueuePair> targets = new ArrayList<>();
        List<QueuePair> initiators = new ArrayList<>();
        QueuePairInitAttributes target = QueuePairInitAttributes.extendedReceive(extended, received);
        // No device has a send queue of Integer.MAX_VALUE entries, so larger numbers of messages also fail.
        int sends = (int) Math.min(options.messages(), Integer.MAX_VALUE);
        QueuePairInitAttributes initiator =
                QueuePairInitAttributes.of(QueuePairType.XRC_SEND, sent, new QueuePairCapabilities(sends, 0, 1, 0, 0));
        for (int i = 0; i < clients; i++) {
            targets.add(create(calls, domain, target, "recv QP[" + i + "]", options.port()));
            initiators.add(create(calls, domain, initiator, "send QP[" + i + "]", options.port()));
        }
        return new XsrqResources(region, channel, received, sent, receives, targets, initiators);
    }

    private static QueuePair create(
            PingpongCalls calls, ProtectionDomain domain, QueuePairInitAttributes attributes, String label, int port)
            throws ToolFailure {
        QueuePair created = calls.call(
                (int errno) -> "Couldn't create " + label + " errno " + errno,
                () -> domain.createQueuePair(attributes));
        Set<AccessFlag> access = attributes.type() == QueuePairType.XRC_RECEIVE
                ? Set.of(AccessFlag.REMOTE_WRITE, AccessFlag.REMOTE_READ)
                : Set.of();
        calls.step(
                "Failed to modify " + label + " to INIT",
                () -> created.modify(new QueuePairAttributes()
                        .state(QueuePairState.INIT)
                        .partitionKeyIndex(0)
                        .port(port)
                        .accessFlags(access)));
        return created;
    }

    /** Connects both queue pairs of a client. */
    void connect(
            PingpongCalls calls,
            XsrqOptions options,
            int index,
            LocalGid gid,
            XsrqDestination local,
            XsrqDestination remote)
            throws ToolFailure {
        QueuePair target = targets.get(index);
        QueuePair initiator = initiators.get(index);
        String receiver = "Failed to modify recv QP[" + index + "] to ";
        String sender = "Failed to modify send QP[" + index + "] to ";
        // C sets the GID only if the low half of the peer's GID is not zero. RoCE rejects a missing GID.
        if (gid.index() < 0 || remote.gid().low() == 0) {
            throw calls.failure(receiver + "RTR", LocalGid.HINT);
        }
        QueuePairAttributes receive = ready(options, gid, remote)
                .destinationQueuePair(remote.initiator())
                .maxDestinationReadAtomic(0)
                .minRnrTimer(MIN_RNR_TIMER);
        QueuePairAttributes send = ready(options, gid, remote).destinationQueuePair(remote.target());
        calls.step(receiver + "RTR", () -> target.modify(receive));
        calls.step(receiver + "RTS", () -> target.modify(sending(local)));
        calls.step(sender + "RTR", () -> initiator.modify(send));
        calls.step(
                sender + "RTS",
                () -> initiator.modify(
                        sending(local).retryCount(RETRIES).rnrRetry(RETRIES).maxReadAtomic(0)));
    }

    private static QueuePairAttributes ready(XsrqOptions options, LocalGid gid, XsrqDestination remote) {
        return new QueuePairAttributes()
                .state(QueuePairState.READY_TO_RECEIVE)
                .addressVector(AddressVector.of(gid.index(), remote.gid())
                        .withHopLimit(HOP_LIMIT)
                        .withServiceLevel(options.serviceLevel())
                        .withPort(options.port()))
                .pathMtu(options.mtu())
                .receivePsn(remote.psn());
    }

    private static QueuePairAttributes sending(XsrqDestination local) {
        return new QueuePairAttributes()
                .state(QueuePairState.READY_TO_SEND)
                .timeout(TIMEOUT)
                .sendPsn(local.psn());
    }
}

package io.rdma4j.cm;

import io.rdma4j.cm.spi.ProviderCmId;
import io.rdma4j.value.QueuePairState;
import io.rdma4j.verbs.DeviceAttributes;
import io.rdma4j.verbs.Errno;
import io.rdma4j.verbs.QueuePair;
import io.rdma4j.verbs.QueuePairAttribute;
import io.rdma4j.verbs.QueuePairAttributes;
import io.rdma4j.verbs.RdmaException;
import org.jspecify.annotations.Nullable;

/**
 * The connection of an identifier: its parameters, and the calls and events that establish and end it. They also change
 * the state of the identifier's queue pair. Like in librdmacm, this class determines the depths, and not the provider.
 */
final class IdConnection {
    private final CmId id;
    private int responderResources;
    private int initiatorDepth;
    private ConnectionEnhancement localEnhancement = ConnectionEnhancement.NONE;
    private volatile ConnectionEnhancement remoteEnhancement = ConnectionEnhancement.NONE;

    private volatile byte[] peerPrivateData = {};

    /** True if the peer accepted, but the connection could not be established; guarded by the identifier's lock. */
    private boolean hasFailed;

    IdConnection(CmId id) {
        this.id = id;
    }

    // ---- the library's part of events

    /** Takes a peer's connection request. Its depths limit the depths of this side. */
    void onRequest(CmEvent.ConnectRequest request) {
        id.lock().lock();
        try {
            responderResources = request.connection().responderResources();
            initiatorDepth = request.connection().initiatorDepth();
            remoteEnhancement = request.enhancement();
            peerPrivateData = request.privateData();
            id.setContext(request.listener().context());
            ProviderCmId provider = id.binding.first();
            if (provider != null) {
                provider.onRequestTaken();
            }
        } finally {
            id.lock().unlock();
        }
    }

    /** Takes the peer's acceptance: makes the identifier's queue pair ready to send, and confirms the connection. */
    CmEvent onReply(CmEvent.ConnectResponse reply) {
        id.lock().lock();
        try {
            remoteEnhancement = reply.enhancement();
            peerPrivateData = reply.privateData();
            QueuePair current = id.queuePair();
            ProviderCmId provider = id.binding.first();
            return current == null || provider == null ? reply : confirm(reply, current, provider);
        } finally {
            id.lock().unlock();
        }
    }

    /** Takes the establishment of a connection. On iWARP, this event has the reply's private data. */
    CmEvent onEstablished(CmEvent.Established event) {
        byte[] data = event.privateData();
        if (data.length > 0) {
            peerPrivateData = data;
        }
        return event;
    }

    /**
     * Flushes the work requests of the identifier's queue pair before the event is delivered. The kernel's software
     * devices do not complete them after a removal, so a thread that waits for a completion would wait indefinitely.
     */
    void onDeviceRemoved() {
        toErrorIfOpen();
    }

    private CmEvent confirm(CmEvent.ConnectResponse reply, QueuePair queuePair, ProviderCmId provider) {
        boolean isReady = false;
        try {
            toReadyToSend(
                    queuePair, provider, ConnectionParameters.DEVICE_MAXIMUM, ConnectionParameters.DEVICE_MAXIMUM);
            isReady = true;
            provider.establish();
            return new CmEvent.Established(reply.connection()).inPlaceOf(reply);
        } catch (RdmaException failed) {
            hasFailed = true;
            toError(queuePair);
            // After the queue pair is ready, confirming an accepted connection only fails if it has ended.
            boolean hasEnded = isReady && failed.errno() == Errno.EINVAL;
            String text = hasEnded
                    ? "the peer accepted, and ended the connection before " + provider.describe() + " had confirmed it"
                    : "the peer accepted, but " + provider.describe() + " could not be made ready: "
                            + failed.getMessage();
            int status = -(hasEnded ? Errno.ECONNRESET : failed.errno()).number();
            return new CmEvent.Failure(CmEvent.Type.CONNECT_ERROR, status, reply.connection(), text).inPlaceOf(reply);
        }
    }

    /**
     * Takes the end of a connection. Returns null to discard the event if the failure was reported before. Because of
     * the lock, another thread that takes the peer's reply finishes first.
     */
    @Nullable
    CmEvent onEnd(CmEvent event) {
        id.lock().lock();
        try {
            if (hasFailed) {
                return null;
            }
            if (event instanceof CmEvent.Rejected) {
                toErrorIfOpen();
            }
            return event;
        } finally {
            id.lock().unlock();
        }
    }

    /**
     * Moves the queue pair to the error state. Like librdmacm, ignores a failure: the application may have closed it.
     */
    private void toErrorIfOpen() {
        try {
            QueuePair current = id.queuePair();
            if (current != null) {
                toError(current);
            }
        } catch (RdmaException closedAlready) {
            // The event is delivered regardless.
            return;
        }
    }

    // ---- the application's calls

    /** Returns a copy of the private data of the peer's request or reply. */
    byte[] peerPrivateData() {
        return peerPrivateData.clone();
    }

    void connect(@Nullable ConnectionParameters parameters) {
        String operation = "rdma_connect";
        id.locked(operation, () -> {
            ProviderCmId provider = id.binding.required(operation, "Resolve address and route first");
            DeviceAttributes limits = requireParameters(operation, parameters);
            ConnectionParameters effective = parameters == null ? ConnectionParameters.defaults() : parameters;
            responderResources = effective.responderResources() == ConnectionParameters.DEVICE_MAXIMUM
                    ? limits.maxReadAtomicPerQueuePair() & 0xff
                    : effective.responderResources();
            initiatorDepth = effective.initiatorDepth() == ConnectionParameters.DEVICE_MAXIMUM
                    ? limits.maxInitiatedReadAtomicPerQueuePair() & 0xff
                    : effective.initiatorDepth();
            provider.setLocalEnhancement(localEnhancement);
            provider.connect(withIdQueuePair(effective.withDepths(responderResources, initiatorDepth)));
        });
        id.events.complete(operation);
    }

    void accept(@Nullable ConnectionParameters parameters) {
        String operation = "rdma_accept";
        id.locked(operation, () -> {
            ProviderCmId provider = id.binding.required(operation, "Accept the identifier of a CONNECT_REQUEST");
            DeviceAttributes limits = requireParameters(operation, parameters);
            ConnectionParameters effective = parameters == null ? ConnectionParameters.defaults() : parameters;
            responderResources = effective.responderResources() == ConnectionParameters.DEVICE_MAXIMUM
                    ? Math.min(responderResources, limits.maxReadAtomicPerQueuePair() & 0xff)
                    : effective.responderResources();
            initiatorDepth = effective.initiatorDepth() == ConnectionParameters.DEVICE_MAXIMUM
                    ? Math.min(initiatorDepth, limits.maxInitiatedReadAtomicPerQueuePair() & 0xff)
                    : effective.initiatorDepth();
            acceptWith(provider, effective.withDepths(responderResources, initiatorDepth));
        });
        if (id.isDatagram()) {
            // The reply completes the exchange: no event follows.
            id.events.acknowledgeStored();
        } else {
            id.events.completeConnecting(operation);
        }
    }

    private void acceptWith(ProviderCmId provider, ConnectionParameters effective) {
        QueuePair current = id.isDatagram() ? null : id.queuePair();
        if (current != null) {
            toReadyToSend(current, provider, responderResources, initiatorDepth);
        }
        try {
            provider.setLocalEnhancement(localEnhancement);
            provider.accept(withIdQueuePair(effective));
        } catch (RdmaException refused) {
            if (current != null) {
                toError(current);
            }
            throw refused;
        }
    }

    private ConnectionParameters withIdQueuePair(ConnectionParameters effective) {
        QueuePair current = id.queuePair();
        return current == null
                ? effective
                : effective
                        .withQueuePairNumber(current.number())
                        .withSharedReceiveQueue(current.sharedReceiveQueue() != null);
    }

    void establish() {
        String operation = "rdma_establish";
        id.locked(operation, () -> {
            if (id.queuePair() != null) {
                throw CmId.invalid(operation, "the identifier has a queue pair, and connects it by itself", "");
            }
            id.binding.required(operation, CmId.RESOLVE_FIRST).establish();
        });
    }

    void reject(byte[] privateData, boolean becauseOfEnhancement) {
        String operation = becauseOfEnhancement ? "rdma_reject_ece" : "rdma_reject";
        id.locked(
                operation,
                () -> id.binding
                        .required(operation, "Reject the identifier of a CONNECT_REQUEST")
                        .reject(privateData, becauseOfEnhancement));
    }

    void localEnhancement(ConnectionEnhancement enhancement) {
        String operation = "rdma_set_local_ece";
        id.locked(operation, () -> {
            requireNoQueuePair(operation);
            if (enhancement.vendorId() == 0) {
                throw CmId.invalid(operation, "the options are of no vendor", "Specify the vendor that defines them");
            }
            localEnhancement = enhancement;
        });
    }

    ConnectionEnhancement remoteEnhancement() {
        String operation = "rdma_get_remote_ece";
        id.locked(operation, () -> requireNoQueuePair(operation));
        return remoteEnhancement;
    }

    private void requireNoQueuePair(String operation) {
        if (id.queuePair() != null) {
            throw CmId.invalid(
                    operation,
                    "the identifier has a queue pair, which uses its device's options",
                    "Connect with parameters that specify a separate queue pair");
        }
    }

    void disconnect() {
        id.locked("rdma_disconnect", () -> {
            ProviderCmId provider = id.binding.required("rdma_disconnect", "Connect first");
            id.requireDevice("rdma_disconnect");
            if (id.events.isSynchronous() && !provider.isConnected() && !id.events.isEndQueued()) {
                // Linux neither fails nor reports an event, so the wait would not end. On iWARP, the event of the
                // peer's disconnect, which needs no reply, ends the wait.
                throw CmId.invalid(
                        "rdma_disconnect",
                        id + ": there is no connection",
                        "Connect first. awaitDisconnect reports why a connection has ended");
            }
            QueuePair current = id.queuePair();
            if (current != null) {
                toError(current);
            }
            provider.disconnect();
        });
        id.events.complete("rdma_disconnect");
    }

    // ---- states of the queue pair

    /**
     * Moves a queue pair to ready-to-send. Does not set a depth for a type without that attribute.
     *
     * @param responderResources number of the peer's READs that are served concurrently, or 0xff for the value in the
     *     connection's messages
     * @param initiatorDepth number of outstanding READs, or 0xff for the value in the connection's messages
     */
    private static void toReadyToSend(
            QueuePair queuePair, ProviderCmId provider, int responderResources, int initiatorDepth) {
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

    private static void toError(QueuePair queuePair) {
        queuePair.modify(new QueuePairAttributes().state(QueuePairState.ERROR));
    }

    // ---- checks

    private DeviceAttributes requireParameters(String operation, @Nullable ConnectionParameters parameters) {
        if (parameters == null && id.queuePair() == null) {
            throw CmId.invalid(
                    operation,
                    "there are no parameters, and no queue pair of the identifier",
                    "Create a queue pair, or specify parameters with the number of one");
        }
        DeviceAttributes limits = id.requireDevice(operation).context().attributes();
        if (parameters != null) {
            requireDepth(
                    operation,
                    "responder resources",
                    parameters.responderResources(),
                    limits.maxReadAtomicPerQueuePair() & 0xff);
            requireDepth(
                    operation,
                    "initiator depth",
                    parameters.initiatorDepth(),
                    limits.maxInitiatedReadAtomicPerQueuePair() & 0xff);
        }
        return limits;
    }

    private static void requireDepth(String operation, String name, int value, int limit) {
        if (value != ConnectionParameters.DEVICE_MAXIMUM && value > limit) {
            throw CmId.invalid(
                    operation,
                    name + " of " + value + " is more than the device's " + limit,
                    "Use ConnectionParameters.DEVICE_MAXIMUM for the device's maximum");
        }
    }
}

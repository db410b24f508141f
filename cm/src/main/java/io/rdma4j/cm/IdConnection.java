package io.rdma4j.cm;

import io.rdma4j.cm.spi.ProviderCmId;
import io.rdma4j.cm.spi.ProviderEvent;
import io.rdma4j.verbs.DeviceAttributes;
import io.rdma4j.verbs.RdmaException;
import org.jspecify.annotations.Nullable;

/** Connects and disconnects an identifier. As in librdmacm, this determines the depths around the provider's calls. */
final class IdConnection {
    private final IdCore core;
    private int responderResources;
    private int initiatorDepth;
    private ConnectionEnhancement localEnhancement = ConnectionEnhancement.NONE;
    private volatile ConnectionEnhancement remoteEnhancement = ConnectionEnhancement.NONE;

    private volatile byte[] peerPrivateData = {};

    IdConnection(IdCore core) {
        this.core = core;
    }

    /** Records a peer's connection request, whose depths limit those of this side. */
    void onRequest(ProviderEvent request) {
        responderResources = request.connection().responderResources();
        initiatorDepth = request.connection().initiatorDepth();
        remoteEnhancement = request.enhancement();
        peerPrivateData = request.connection().privateData();
    }

    /** Records the peer's reply. */
    void onReply(ProviderEvent reply) {
        remoteEnhancement = reply.enhancement();
        peerPrivateData = reply.connection().privateData();
    }

    /** Returns a copy of the private data of the peer's request or reply. */
    byte[] peerPrivateData() {
        return peerPrivateData.clone();
    }

    void connect(@Nullable ConnectionParameters parameters) {
        String operation = "rdma_connect";
        core.locked(operation, () -> {
            ProviderCmId provider = core.binding().required(operation, "Resolve address and route first");
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
        core.complete(operation);
    }

    void accept(@Nullable ConnectionParameters parameters) {
        String operation = "rdma_accept";
        core.locked(operation, () -> {
            ProviderCmId provider = core.binding().required(operation, "Accept the identifier of a CONNECT_REQUEST");
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
        if (core.isDatagram()) {
            // The reply completes the exchange, and no event follows.
            core.acknowledgeSynchronously();
        } else {
            core.completeConnecting(operation);
        }
    }

    private void acceptWith(ProviderCmId provider, ConnectionParameters effective) {
        IdQueuePair current = core.queuePair();
        boolean connects = !core.isDatagram();
        if (current != null && connects) {
            current.toReadyToSend(provider, responderResources, initiatorDepth);
        }
        try {
            provider.setLocalEnhancement(localEnhancement);
            provider.accept(withIdQueuePair(effective));
        } catch (RdmaException refused) {
            if (current != null && connects) {
                current.toError();
            }
            throw refused;
        }
    }

    private ConnectionParameters withIdQueuePair(ConnectionParameters effective) {
        IdQueuePair current = core.queuePair();
        return current == null
                ? effective
                : effective
                        .withQueuePairNumber(current.queuePair().number())
                        .withSharedReceiveQueue(current.queuePair().sharedReceiveQueue() != null);
    }

    void establish() {
        String operation = "rdma_establish";
        core.locked(operation, () -> {
            if (core.queuePair() != null) {
                throw IdCore.invalid(operation, "the identifier has a queue pair and establishes by itself", "");
            }
            core.binding().required(operation, IdCore.RESOLVE_FIRST).establish();
        });
    }

    void reject(byte[] privateData, boolean becauseOfEnhancement) {
        String operation = becauseOfEnhancement ? "rdma_reject_ece" : "rdma_reject";
        core.locked(
                operation,
                () -> core.binding()
                        .required(operation, "Reject the identifier of a CONNECT_REQUEST")
                        .reject(privateData, becauseOfEnhancement));
    }

    void localEnhancement(ConnectionEnhancement enhancement) {
        String operation = "rdma_set_local_ece";
        core.locked(operation, () -> {
            requireNoQueuePair(operation);
            if (enhancement.vendorId() == 0) {
                throw IdCore.invalid(operation, "the options are of no vendor", "Name the vendor who defines them");
            }
            localEnhancement = enhancement;
        });
    }

    ConnectionEnhancement remoteEnhancement() {
        String operation = "rdma_get_remote_ece";
        core.locked(operation, () -> requireNoQueuePair(operation));
        return remoteEnhancement;
    }

    private void requireNoQueuePair(String operation) {
        if (core.queuePair() != null) {
            throw IdCore.invalid(
                    operation,
                    "the identifier has a queue pair, whose options are its device's",
                    "Connect with parameters that name a queue pair of your own");
        }
    }

    void disconnect() {
        core.locked("rdma_disconnect", () -> {
            ProviderCmId provider = core.binding().required("rdma_disconnect", "Connect first");
            core.requireDevice("rdma_disconnect");
            if (core.isSynchronous() && !provider.isConnected()) {
                // Linux neither fails nor reports an event, so a wait for one would not end.
                throw IdCore.invalid("rdma_disconnect", core.id() + ": there is no connection", "Connect first");
            }
            IdQueuePair current = core.queuePair();
            if (current != null) {
                current.toError();
            }
            provider.disconnect();
        });
        core.complete("rdma_disconnect");
    }

    // ---- checks

    private DeviceAttributes requireParameters(String operation, @Nullable ConnectionParameters parameters) {
        if (parameters == null && core.queuePair() == null) {
            throw IdCore.invalid(
                    operation,
                    "there are no parameters, and no queue pair of the identifier",
                    "Create a queue pair, or give parameters with the number of one");
        }
        DeviceAttributes limits = core.requireDevice(operation).context().attributes();
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
            throw IdCore.invalid(
                    operation,
                    name + " of " + value + " is more than the device's " + limit,
                    "Use ConnectionParameters.DEVICE_MAXIMUM for as much as the device can");
        }
    }
}

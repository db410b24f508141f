package io.rdma4j.exec.cm;

import io.rdma4j.cm.ConnectionEnhancement;
import io.rdma4j.cm.ConnectionParameters;
import io.rdma4j.cm.abi.CmNumbers;
import io.rdma4j.cm.abi.CmStructures.Accept;
import io.rdma4j.cm.abi.CmStructures.Connect;
import io.rdma4j.cm.abi.CmStructures.Disconnect;
import io.rdma4j.cm.abi.CmStructures.Enhancement;
import io.rdma4j.cm.abi.CmStructures.Listen;
import io.rdma4j.cm.abi.CmStructures.Notify;
import io.rdma4j.cm.abi.CmStructures.Parameters;
import io.rdma4j.cm.abi.CmStructures.Reject;
import io.rdma4j.cm.abi.KernelParameters;
import io.rdma4j.cm.host.RouteLookup;
import io.rdma4j.cm.spi.ProviderCmId;
import io.rdma4j.value.RejectReason;
import io.rdma4j.verbs.abi.Fields;
import java.lang.foreign.MemorySegment;
import java.net.InetSocketAddress;

/** Connections and their listeners. */
final class ConnectionCommands {
    /** The kernel's default of {@code net.rdma_ucm.max_backlog}. */
    private static final int MAX_BACKLOG = 1024;

    private ConnectionCommands() {}

    static void listen(Request request) {
        int backlog = Fields.intAt(request.structure(Listen.BYTES), Listen.BACKLOG);
        Identifier identifier = request.identifier(Listen.ID);
        synchronized (identifier.commandLock) {
            ProviderCmId provider = identifier.provider();
            if (provider.localAddress() == null) {
                provider.bind(new InetSocketAddress(RouteLookup.anyIpv4(), 0));
            }
            identifier.file().files.guard();
            provider.listen(backlog <= 0 || backlog > MAX_BACKLOG ? MAX_BACKLOG : backlog);
        }
    }

    static void connect(Request request) {
        MemorySegment connect = request.structure(Connect.ENHANCEMENT);
        if (!isValid(connect, Connect.PARAMETERS)) {
            throw Request.invalid("the parameters are not valid");
        }
        Identifier identifier = request.identifier(Connect.ID);
        synchronized (identifier.commandLock) {
            ProviderCmId provider = identifier.withDevice();
            identifier.file().files.guard();
            provider.setLocalEnhancement(enhancement(connect, Connect.ENHANCEMENT));
            ConnectionParameters parameters = KernelParameters.connection(connect.asSlice(Connect.PARAMETERS));
            identifier.ask(() -> provider.connect(parameters));
        }
    }

    /** Accepts a request or, without valid parameters, the reply of the peer. */
    static void accept(Request request) {
        MemorySegment accept = request.structure(Accept.ENHANCEMENT);
        Identifier identifier = request.identifier(Accept.ID);
        synchronized (identifier.commandLock) {
            ProviderCmId provider = identifier.withDevice();
            provider.setLocalEnhancement(enhancement(accept, Accept.ENHANCEMENT));
            if (isValid(accept, Accept.PARAMETERS)) {
                accept(identifier, provider, accept);
            } else {
                provider.establish();
            }
        }
    }

    private static void accept(Identifier identifier, ProviderCmId provider, MemorySegment accept) {
        // Set before the reply is sent, so that the event of the answer has the number.
        long before = identifier.exchangeUid(Fields.longAt(accept, Accept.UID));
        boolean accepted = false;
        try {
            ConnectionParameters parameters = KernelParameters.connection(accept.asSlice(Accept.PARAMETERS));
            if (identifier.isDatagram()) {
                provider.accept(parameters); // no event follows
            } else {
                identifier.ask(() -> provider.accept(parameters));
            }
            accepted = true;
        } finally {
            if (!accepted) {
                identifier.exchangeUid(before);
            }
        }
    }

    private static boolean isValid(MemorySegment from, int parametersAt) {
        return Fields.byteAt(from, parametersAt + Parameters.IS_VALID) != 0;
    }

    /** Returns the options of enhanced connection establishment, which a librdmacm before version 31 does not send. */
    private static ConnectionEnhancement enhancement(MemorySegment from, int at) {
        return from.byteSize() < at + Enhancement.BYTES
                ? ConnectionEnhancement.NONE
                : KernelParameters.enhancement(from.asSlice(at));
    }

    static void reject(Request request) {
        MemorySegment reject = request.structure(Reject.BYTES);
        int reason = Fields.byteAt(reject, Reject.REASON);
        boolean becauseOfEnhancement = reason == RejectReason.VENDOR_OPTION_NOT_SUPPORTED.code();
        if (reason != 0 && reason != RejectReason.CONSUMER_DEFINED.code() && !becauseOfEnhancement) {
            throw Request.invalid("reason " + reason);
        }
        byte[] privateData =
                Fields.bytesAt(reject, Reject.PRIVATE_DATA, Fields.byteAt(reject, Reject.PRIVATE_DATA_BYTES));
        Identifier identifier = request.identifier(Reject.ID);
        synchronized (identifier.commandLock) {
            identifier.withDevice().reject(privateData, becauseOfEnhancement);
        }
    }

    static void disconnect(Request request) {
        request.structure(Disconnect.BYTES);
        Identifier identifier = request.identifier(Disconnect.ID);
        synchronized (identifier.commandLock) {
            ProviderCmId provider = identifier.withDevice();
            if (provider.isConnected()) {
                identifier.ask(provider::disconnect);
            } else {
                provider.disconnect();
            }
        }
    }

    static void notifyEvent(Request request) {
        int event = Fields.intAt(request.structure(Notify.BYTES), Notify.EVENT);
        Identifier identifier = request.identifier(Notify.ID);
        if (event != CmNumbers.COMMUNICATION_ESTABLISHED) {
            throw Request.invalid("event " + event);
        }
        synchronized (identifier.commandLock) {
            identifier.withDevice().notifyCommunicationEstablished();
        }
    }
}

package io.rdma4j.tools.pingpong;

import io.rdma4j.verbs.CompletionQueue;
import io.rdma4j.verbs.DeviceContext;
import io.rdma4j.verbs.ProtectionDomain;
import io.rdma4j.verbs.QueuePair;
import io.rdma4j.verbs.QueuePairCapabilities;
import io.rdma4j.verbs.QueuePairInitAttributes;
import io.rdma4j.verbs.QueuePairType;
import io.rdma4j.verbs.RdmaException;
import io.rdma4j.verbs.ReceiveWorkRequest;
import io.rdma4j.verbs.SendWorkRequest;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** What differs between the ping-pongs: the kind of queue pair, and how it is brought to work. One for each run. */
interface PingpongTransport {
    /**
     * One thing to do.
     *
     * @param failure C's line if it fails
     * @param needsGid whether it takes a GID of both sides
     * @param action throws {@link RdmaException} if the device refuses
     */
    record Step(String failure, boolean needsGid, Runnable action) {}

    /** Whether every message arrives, or its sender hears that it did not. */
    boolean isReliable();

    /** Addresses that each side tells the other; those beyond its queue pairs are zero. */
    default int addresses() {
        return 1;
    }

    /** How messages name a queue pair. */
    default String label(int index) {
        return "QP";
    }

    /** What the buffer is filled with at first. */
    default byte fill() {
        return 0x7b;
    }

    /** Bytes of a receive that come before the message. */
    default int headerBytes() {
        return 0;
    }

    /** Why the device cannot do what the options want: C's line; null if it can. */
    default @Nullable String refusal(DeviceContext context, PingpongOptions options) {
        return null;
    }

    /** What makes all that the queue pairs have in common. */
    default List<Step> prepare(ProtectionDomain domain, PingpongOptions options) {
        return List.of();
    }

    /**
     * Posts a receive.
     *
     * @throws RdmaException if the device refuses
     */
    default void postReceive(QueuePair queuePair, ReceiveWorkRequest request) {
        queuePair.postReceive(request);
    }

    /**
     * Makes a queue pair, in the reset state.
     *
     * @throws RdmaException if the device refuses
     */
    QueuePair create(ProtectionDomain domain, CompletionQueue completions, PingpongOptions options);

    /**
     * Brings it to the INIT state.
     *
     * @throws RdmaException if the device refuses
     */
    void initialise(QueuePair queuePair, PingpongOptions options);

    /** What brings it to the RTS state and makes it know the other side, in order. */
    List<Step> connect(
            QueuePair queuePair,
            PingpongOptions options,
            int gidIndex,
            PingPongDestination local,
            PingPongDestination remote);

    /** Completes a SEND with what the transport needs beyond the message. */
    default void address(SendWorkRequest send) {}

    /** C's line when the GID that was asked for is not there. */
    default String missingGid(int gidIndex) {
        return "can't read sgid of index " + gidIndex;
    }

    /** This side's place in the line {@code local address}. */
    default String localText(PingPongDestination local) {
        return local.toString();
    }

    /** A queue pair of a type with places for one SEND and the receives of the options. */
    static QueuePair create(
            QueuePairType type, ProtectionDomain domain, CompletionQueue completions, PingpongOptions options) {
        return domain.createQueuePair(QueuePairInitAttributes.of(
                type, completions, new QueuePairCapabilities(1, options.receiveDepth(), 1, 1, 0)));
    }
}

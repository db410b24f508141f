package io.rdma4j.tools.pingpong;

import io.rdma4j.value.QueuePairType;
import io.rdma4j.verbs.CompletionQueue;
import io.rdma4j.verbs.DeviceAttributes;
import io.rdma4j.verbs.DeviceContext;
import io.rdma4j.verbs.OnDemandOperation;
import io.rdma4j.verbs.ProtectionDomain;
import io.rdma4j.verbs.QueuePair;
import io.rdma4j.verbs.QueuePairCapabilities;
import io.rdma4j.verbs.QueuePairInitAttributes;
import io.rdma4j.verbs.RdmaException;
import io.rdma4j.verbs.ReceiveWorkRequest;
import io.rdma4j.verbs.SendWorkRequest;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * The parts of a run that depend on the tool: the type of queue pair and the way it is connected. Each run has a
 * separate instance.
 */
interface PingpongTransport {
    /**
     * A call to the device.
     *
     * @param failure C's line if the call fails
     * @param needsGid true if both sides need a GID
     * @param action the call, which throws {@link RdmaException} if it fails
     */
    record Step(String failure, boolean needsGid, Runnable action) {}

    /** Returns whether the sender of a lost message gets an error. */
    boolean isReliable();

    /** Returns the number of addresses that each side sends. Addresses without a queue pair are zero. */
    default int addresses() {
        return 1;
    }

    /** Returns the name of a queue pair in messages. */
    default String label(int index) {
        return "QP";
    }

    /** Returns the initial value of the bytes of the buffer. */
    default byte fill() {
        return 0x7b;
    }

    /** Returns the length of the header before the data of a received message. */
    default int headerBytes() {
        return 0;
    }

    /** Returns C's line if the device does not support the options, or null if it does. */
    default @Nullable String refusal(DeviceContext context, PingpongOptions options) {
        return onDemandRefusal(
                context,
                options.onDemand(),
                QueuePairType.RELIABLE_CONNECTION,
                OnDemandOperation.RECEIVE,
                "RC send and receive");
    }

    /**
     * Returns C's line if {@code -o} was given and the device does not support on-demand paging for the operations.
     * Otherwise returns null.
     *
     * @param context the device
     * @param wanted true if {@code -o} was given
     * @param type the type of the queue pairs
     * @param receive the operation that receives
     * @param operations C's text for SENDs and receives of this type
     */
    static @Nullable String onDemandRefusal(
            DeviceContext context, boolean wanted, QueuePairType type, OnDemandOperation receive, String operations) {
        DeviceAttributes device = context.attributes();
        boolean able = device.hasOnDemandPaging()
                && device.onDemandOperations(type).containsAll(Set.of(OnDemandOperation.SEND, receive));
        return wanted && !able ? "The device isn't ODP capable or does not support " + operations + " with ODP" : null;
    }

    /** Returns the calls that create the resources shared by the queue pairs. */
    default List<Step> prepare(ProtectionDomain domain, PingpongOptions options) {
        return List.of();
    }

    /**
     * Posts a receive.
     *
     * @throws RdmaException if it fails
     */
    default void postReceive(QueuePair queuePair, ReceiveWorkRequest request) {
        queuePair.postReceive(request);
    }

    /**
     * Creates a queue pair, in the reset state.
     *
     * @throws RdmaException if it fails
     */
    QueuePair create(ProtectionDomain domain, CompletionQueue completions, PingpongOptions options);

    /**
     * Moves a queue pair to the INIT state.
     *
     * @throws RdmaException if it fails
     */
    void initialise(QueuePair queuePair, PingpongOptions options);

    /** Returns the calls, in order, that connect a queue pair to the peer and move it to the RTS state. */
    List<Step> connect(
            QueuePair queuePair,
            PingpongOptions options,
            int gidIndex,
            PingPongDestination local,
            PingPongDestination remote);

    /** Sets the destination of a SEND, if the transport needs one. */
    default void address(SendWorkRequest send) {}

    /** Returns C's line if there is no GID at the index. */
    default String missingGid(int gidIndex) {
        return "can't read sgid of index " + gidIndex;
    }

    /** Returns the text of this side's address in the line {@code local address}. */
    default String localText(PingPongDestination local) {
        return local.toString();
    }

    /** Creates a queue pair of the given type for one SEND and the number of receives in the options. */
    static QueuePair create(
            QueuePairType type, ProtectionDomain domain, CompletionQueue completions, PingpongOptions options) {
        return domain.createQueuePair(QueuePairInitAttributes.of(
                type, completions, new QueuePairCapabilities(1, options.receiveDepth(), 1, 1, 0)));
    }
}

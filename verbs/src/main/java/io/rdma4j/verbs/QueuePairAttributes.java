package io.rdma4j.verbs;

import java.util.EnumSet;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Attributes of a queue pair, with the knowledge which of them are set. C: {@code struct ibv_qp_attr} and its mask. Not
 * thread safe.
 */
public final class QueuePairAttributes {
    private final EnumSet<QueuePairAttribute> present = EnumSet.noneOf(QueuePairAttribute.class);
    private QueuePairState state = QueuePairState.RESET;
    private QueuePairState currentState = QueuePairState.RESET;
    private boolean notifyWhenDrained;
    private boolean draining;
    private Set<AccessFlag> accessFlags = Set.of();
    private int partitionKeyIndex = 0;
    private int port = 1;
    private @Nullable AddressVector addressVector;
    private PathMtu pathMtu = PathMtu.MTU_1024;
    private int timeout = 0;
    private int retryCount = 0;
    private int rnrRetry = 0;
    private int receivePsn = 0;
    private int maxReadAtomic = 0;
    private int minRnrTimer = 0;
    private int sendPsn = 0;
    private int maxDestinationReadAtomic = 0;
    private int destinationQueuePair = 0;
    private int queueKey = 0;

    /** Creates attributes of which none is set. */
    public QueuePairAttributes() {}

    /** The attributes that are set: the mask of {@code ibv_modify_qp}. */
    public Set<QueuePairAttribute> present() {
        return EnumSet.copyOf(present);
    }

    /** Sets: the state to go to. */
    public QueuePairAttributes state(QueuePairState value) {
        state = value;
        present.add(QueuePairAttribute.STATE);
        return this;
    }

    /** The state to go to. */
    public QueuePairState state() {
        return state;
    }

    /** Sets: the state that the queue pair is believed to be in; the change is refused if it is in another. */
    public QueuePairAttributes currentState(QueuePairState value) {
        currentState = value;
        present.add(QueuePairAttribute.CURRENT_STATE);
        return this;
    }

    /** The state that the queue pair is believed to be in; not set in the answer of a query, which has {@link #state}. */
    public QueuePairState currentState() {
        return currentState;
    }

    /** Sets: whether {@link AsyncEvent.Type#SEND_QUEUE_DRAINED} is wanted. */
    public QueuePairAttributes notifyWhenDrained(boolean value) {
        notifyWhenDrained = value;
        present.add(QueuePairAttribute.NOTIFY_WHEN_DRAINED);
        return this;
    }

    /** Whether {@link AsyncEvent.Type#SEND_QUEUE_DRAINED} is wanted. */
    public boolean notifyWhenDrained() {
        return notifyWhenDrained;
    }

    /** For providers, in the answer of a query: whether the send queue is still draining. */
    public QueuePairAttributes draining(boolean value) {
        draining = value;
        return this;
    }

    /**
     * In the answer of a query: whether the state is {@link QueuePairState#SEND_QUEUE_DRAINED}, but something is still
     * under way. C: {@code sq_draining}.
     */
    public boolean isDraining() {
        return draining;
    }

    /** Sets: what the peer may do. */
    public QueuePairAttributes accessFlags(Set<AccessFlag> value) {
        accessFlags = value;
        present.add(QueuePairAttribute.ACCESS_FLAGS);
        return this;
    }

    /** What the peer may do. */
    public Set<AccessFlag> accessFlags() {
        return accessFlags;
    }

    /** Sets: place in the partition key table. */
    public QueuePairAttributes partitionKeyIndex(int value) {
        partitionKeyIndex = value;
        present.add(QueuePairAttribute.PARTITION_KEY_INDEX);
        return this;
    }

    /** Place in the partition key table. */
    public int partitionKeyIndex() {
        return partitionKeyIndex;
    }

    /** Sets: port, from 1. */
    public QueuePairAttributes port(int value) {
        port = value;
        present.add(QueuePairAttribute.PORT);
        return this;
    }

    /** Port, from 1. */
    public int port() {
        return port;
    }

    /** Sets: how packets reach the peer. */
    public QueuePairAttributes addressVector(AddressVector value) {
        addressVector = value;
        present.add(QueuePairAttribute.ADDRESS_VECTOR);
        return this;
    }

    /** How packets reach the peer. */
    public @Nullable AddressVector addressVector() {
        return addressVector;
    }

    /** Sets: most payload bytes of a packet. */
    public QueuePairAttributes pathMtu(PathMtu value) {
        pathMtu = value;
        present.add(QueuePairAttribute.PATH_MTU);
        return this;
    }

    /** Most payload bytes of a packet. */
    public PathMtu pathMtu() {
        return pathMtu;
    }

    /** Sets: acknowledgement time-out, 4.096 µs × 2<sup>n</sup>; 0 waits for ever. */
    public QueuePairAttributes timeout(int value) {
        timeout = value;
        present.add(QueuePairAttribute.TIMEOUT);
        return this;
    }

    /** Acknowledgement time-out, 4.096 µs × 2<sup>n</sup>; 0 waits for ever. */
    public int timeout() {
        return timeout;
    }

    /** Sets: retries without any acknowledgement, 0 to 7. */
    public QueuePairAttributes retryCount(int value) {
        retryCount = value;
        present.add(QueuePairAttribute.RETRY_COUNT);
        return this;
    }

    /** Retries without any acknowledgement, 0 to 7. */
    public int retryCount() {
        return retryCount;
    }

    /** Sets: retries when the peer has no receive, 0 to 7; 7 is for ever. */
    public QueuePairAttributes rnrRetry(int value) {
        rnrRetry = value;
        present.add(QueuePairAttribute.RNR_RETRY);
        return this;
    }

    /** Retries when the peer has no receive, 0 to 7; 7 is for ever. */
    public int rnrRetry() {
        return rnrRetry;
    }

    /** Sets: first PSN that the peer sends with. */
    public QueuePairAttributes receivePsn(int value) {
        receivePsn = value;
        present.add(QueuePairAttribute.RECEIVE_PSN);
        return this;
    }

    /** First PSN that the peer sends with. */
    public int receivePsn() {
        return receivePsn;
    }

    /** Sets: READs and atomics under way at most. */
    public QueuePairAttributes maxReadAtomic(int value) {
        maxReadAtomic = value;
        present.add(QueuePairAttribute.MAX_READ_ATOMIC);
        return this;
    }

    /** READs and atomics under way at most. */
    public int maxReadAtomic() {
        return maxReadAtomic;
    }

    /** Sets: how long the peer shall wait when there is no receive, as a code 0 to 31. */
    public QueuePairAttributes minRnrTimer(int value) {
        minRnrTimer = value;
        present.add(QueuePairAttribute.MIN_RNR_TIMER);
        return this;
    }

    /** How long the peer shall wait when there is no receive, as a code 0 to 31. */
    public int minRnrTimer() {
        return minRnrTimer;
    }

    /** Sets: first PSN to send with. */
    public QueuePairAttributes sendPsn(int value) {
        sendPsn = value;
        present.add(QueuePairAttribute.SEND_PSN);
        return this;
    }

    /** First PSN to send with. */
    public int sendPsn() {
        return sendPsn;
    }

    /** Sets: READs and atomics of the peer that are served at a time. */
    public QueuePairAttributes maxDestinationReadAtomic(int value) {
        maxDestinationReadAtomic = value;
        present.add(QueuePairAttribute.MAX_DESTINATION_READ_ATOMIC);
        return this;
    }

    /** READs and atomics of the peer that are served at a time. */
    public int maxDestinationReadAtomic() {
        return maxDestinationReadAtomic;
    }

    /** Sets: number of the peer's queue pair. */
    public QueuePairAttributes destinationQueuePair(int value) {
        destinationQueuePair = value;
        present.add(QueuePairAttribute.DESTINATION_QUEUE_PAIR);
        return this;
    }

    /** Number of the peer's queue pair. */
    public int destinationQueuePair() {
        return destinationQueuePair;
    }

    /** Sets: key that datagrams to the queue pair must carry. */
    public QueuePairAttributes queueKey(int value) {
        queueKey = value;
        present.add(QueuePairAttribute.QUEUE_KEY);
        return this;
    }

    /** Key that datagrams to the queue pair must carry. */
    public int queueKey() {
        return queueKey;
    }
}

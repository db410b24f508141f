package io.rdma4j.verbs;

import io.rdma4j.value.AccessFlag;
import io.rdma4j.value.PathMtu;
import io.rdma4j.value.QueuePairState;
import java.util.EnumSet;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * The attributes of a queue pair, and the names of the attributes that are set. C: {@code struct ibv_qp_attr} and its
 * mask. Not thread safe.
 */
public final class QueuePairAttributes {
    private final EnumSet<QueuePairAttribute> present = EnumSet.noneOf(QueuePairAttribute.class);
    private QueuePairState state = QueuePairState.RESET;
    private QueuePairState currentState = QueuePairState.RESET;
    private boolean draining;
    private boolean notifyWhenDrained;
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

    /** Creates an object without set attributes. */
    public QueuePairAttributes() {}

    /** Returns the names of the attributes that are set: the mask of {@code ibv_modify_qp}. */
    public Set<QueuePairAttribute> present() {
        return EnumSet.copyOf(present);
    }

    /** Sets the target state. */
    public QueuePairAttributes state(QueuePairState value) {
        state = value;
        present.add(QueuePairAttribute.STATE);
        return this;
    }

    /** Returns the target state. */
    public QueuePairState state() {
        return state;
    }

    /** Sets the expected current state. The change is rejected if the queue pair is in another state. */
    public QueuePairAttributes currentState(QueuePairState value) {
        currentState = value;
        present.add(QueuePairAttribute.CURRENT_STATE);
        return this;
    }

    /** Returns the expected current state. A query does not set it, but {@link #state}. */
    public QueuePairState currentState() {
        return currentState;
    }

    /** Sets whether {@link AsyncEvent.Type#SEND_QUEUE_DRAINED} is requested. */
    public QueuePairAttributes notifyWhenDrained(boolean value) {
        notifyWhenDrained = value;
        present.add(QueuePairAttribute.NOTIFY_WHEN_DRAINED);
        return this;
    }

    /** Returns whether {@link AsyncEvent.Type#SEND_QUEUE_DRAINED} is requested. */
    public boolean notifyWhenDrained() {
        return notifyWhenDrained;
    }

    /** Sets {@link #isDraining} in the result of a query. {@link QueuePair#modify} ignores it. */
    public QueuePairAttributes draining(boolean value) {
        draining = value;
        return this;
    }

    /**
     * Returns, in the result of a query, whether the state is {@link QueuePairState#SEND_QUEUE_DRAINED} but sends are
     * still in flight. C: {@code sq_draining}.
     */
    public boolean isDraining() {
        return draining;
    }

    /** Sets the access rights of the peer. */
    public QueuePairAttributes accessFlags(Set<AccessFlag> value) {
        accessFlags = value;
        present.add(QueuePairAttribute.ACCESS_FLAGS);
        return this;
    }

    /** Returns the access rights of the peer. */
    public Set<AccessFlag> accessFlags() {
        return accessFlags;
    }

    /** Sets the index in the partition key table. */
    public QueuePairAttributes partitionKeyIndex(int value) {
        partitionKeyIndex = value;
        present.add(QueuePairAttribute.PARTITION_KEY_INDEX);
        return this;
    }

    /** Returns the index in the partition key table. */
    public int partitionKeyIndex() {
        return partitionKeyIndex;
    }

    /** Sets the port, from 1. */
    public QueuePairAttributes port(int value) {
        port = value;
        present.add(QueuePairAttribute.PORT);
        return this;
    }

    /** Returns the port, from 1. */
    public int port() {
        return port;
    }

    /** Sets the address of the peer. */
    public QueuePairAttributes addressVector(AddressVector value) {
        addressVector = value;
        present.add(QueuePairAttribute.ADDRESS_VECTOR);
        return this;
    }

    /** Returns the address of the peer, or null if it is not set. */
    public @Nullable AddressVector addressVector() {
        return addressVector;
    }

    /** Sets the path MTU. */
    public QueuePairAttributes pathMtu(PathMtu value) {
        pathMtu = value;
        present.add(QueuePairAttribute.PATH_MTU);
        return this;
    }

    /** Returns the path MTU. */
    public PathMtu pathMtu() {
        return pathMtu;
    }

    /** Sets the acknowledgement timeout as an exponent n: 4.096 µs × 2<sup>n</sup>; 0 disables the timeout. */
    public QueuePairAttributes timeout(int value) {
        timeout = value;
        present.add(QueuePairAttribute.TIMEOUT);
        return this;
    }

    /** Returns the acknowledgement timeout as an exponent n: 4.096 µs × 2<sup>n</sup>; 0 disables the timeout. */
    public int timeout() {
        return timeout;
    }

    /** Sets the number of retries without an acknowledgement, 0 to 7. */
    public QueuePairAttributes retryCount(int value) {
        retryCount = value;
        present.add(QueuePairAttribute.RETRY_COUNT);
        return this;
    }

    /** Returns the number of retries without an acknowledgement, 0 to 7. */
    public int retryCount() {
        return retryCount;
    }

    /** Sets the number of retries while the peer has no receive posted, 0 to 7; 7 is unlimited. */
    public QueuePairAttributes rnrRetry(int value) {
        rnrRetry = value;
        present.add(QueuePairAttribute.RNR_RETRY);
        return this;
    }

    /** Returns the number of retries while the peer has no receive posted, 0 to 7; 7 is unlimited. */
    public int rnrRetry() {
        return rnrRetry;
    }

    /** Sets the first PSN of the peer's requests, 24 bits. */
    public QueuePairAttributes receivePsn(int value) {
        receivePsn = value;
        present.add(QueuePairAttribute.RECEIVE_PSN);
        return this;
    }

    /** Returns the first PSN of the peer's requests, 24 bits. */
    public int receivePsn() {
        return receivePsn;
    }

    /** Sets the maximum number of outstanding READs and atomics. */
    public QueuePairAttributes maxReadAtomic(int value) {
        maxReadAtomic = value;
        present.add(QueuePairAttribute.MAX_READ_ATOMIC);
        return this;
    }

    /** Returns the maximum number of outstanding READs and atomics. */
    public int maxReadAtomic() {
        return maxReadAtomic;
    }

    /** Sets the delay before the peer retries when no receive is posted, as a code 0 to 31. */
    public QueuePairAttributes minRnrTimer(int value) {
        minRnrTimer = value;
        present.add(QueuePairAttribute.MIN_RNR_TIMER);
        return this;
    }

    /** Returns the delay before the peer retries when no receive is posted, as a code 0 to 31. */
    public int minRnrTimer() {
        return minRnrTimer;
    }

    /** Sets the first PSN to send, 24 bits. */
    public QueuePairAttributes sendPsn(int value) {
        sendPsn = value;
        present.add(QueuePairAttribute.SEND_PSN);
        return this;
    }

    /** Returns the first PSN to send, 24 bits. */
    public int sendPsn() {
        return sendPsn;
    }

    /** Sets the maximum number of the peer's READs and atomics that are served concurrently. */
    public QueuePairAttributes maxDestinationReadAtomic(int value) {
        maxDestinationReadAtomic = value;
        present.add(QueuePairAttribute.MAX_DESTINATION_READ_ATOMIC);
        return this;
    }

    /** Returns the maximum number of the peer's READs and atomics that are served concurrently. */
    public int maxDestinationReadAtomic() {
        return maxDestinationReadAtomic;
    }

    /** Sets the number of the peer's queue pair, 24 bits. */
    public QueuePairAttributes destinationQueuePair(int value) {
        destinationQueuePair = value;
        present.add(QueuePairAttribute.DESTINATION_QUEUE_PAIR);
        return this;
    }

    /** Returns the number of the peer's queue pair, 24 bits. */
    public int destinationQueuePair() {
        return destinationQueuePair;
    }

    /** Sets the queue key that datagrams to the queue pair must have. */
    public QueuePairAttributes queueKey(int value) {
        queueKey = value;
        present.add(QueuePairAttribute.QUEUE_KEY);
        return this;
    }

    /** Returns the queue key that datagrams to the queue pair must have. */
    public int queueKey() {
        return queueKey;
    }
}

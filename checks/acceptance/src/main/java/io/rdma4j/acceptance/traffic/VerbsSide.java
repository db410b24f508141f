package io.rdma4j.acceptance.traffic;

import io.rdma4j.value.AccessFlag;
import io.rdma4j.value.Gid;
import io.rdma4j.value.PathMtu;
import io.rdma4j.value.QueuePairState;
import io.rdma4j.value.QueuePairType;
import io.rdma4j.verbs.AddressVector;
import io.rdma4j.verbs.CompletionQueue;
import io.rdma4j.verbs.Device;
import io.rdma4j.verbs.DeviceContext;
import io.rdma4j.verbs.ProtectionDomain;
import io.rdma4j.verbs.QueuePair;
import io.rdma4j.verbs.QueuePairAttributes;
import io.rdma4j.verbs.QueuePairCapabilities;
import io.rdma4j.verbs.QueuePairInitAttributes;
import io.rdma4j.verbs.WorkCompletion;
import java.net.InetAddress;
import java.time.Duration;
import java.util.EnumSet;
import java.util.Set;

/**
 * An open device with the objects that queue pairs need, for tests that create and break thousands of queue pairs
 * without a connection manager. Both sides of a connection may be in one process. Not thread safe.
 */
public final class VerbsSide implements AutoCloseable {
    /** All access rights that a peer may have. */
    public static final Set<AccessFlag> ALL =
            Set.copyOf(EnumSet.range(AccessFlag.LOCAL_WRITE, AccessFlag.MEMORY_WINDOW_BIND));

    /**
     * The retry parameters of a connection.
     *
     * @param timeout exponent of the local ACK timeout, which is 4.096 µs times 2 to its power
     * @param retries retry count, 0 to 7
     * @param rnrRetries RNR retry count, 0 to 7; 7 retries indefinitely
     * @param minRnrTimer code of the time that a sender waits after an RNR NAK, 0 to 31
     */
    public record RetryParameters(int timeout, int retries, int rnrRetries, int minRnrTimer) {
        /** 67 ms, seven retries, indefinite RNR retries, 0.01 ms. */
        public static final RetryParameters DEFAULT = new RetryParameters(14, 7, 7, 1);
    }

    private static final int PSN = 0xff_ff00;
    private static final int READS = 4;

    private final InetAddress address;
    private final DeviceContext context;
    private final ProtectionDomain domain;
    private final CompletionQueue completions;

    /**
     * Opens the device of an address.
     *
     * @param address local address
     * @param entries capacity of the completion queue
     * @param vector its completion vector, modulo the number of vectors; different engines drive different vectors
     */
    public VerbsSide(InetAddress address, int entries, int vector) {
        this.address = address;
        context = Device.of(address)
                .orElseThrow(() -> new IllegalStateException("no RDMA device has " + address))
                .open();
        domain = context.createProtectionDomain();
        completions = context.createCompletionQueue(entries, null, null, vector % context.completionVectors());
    }

    /** Returns the device. */
    public DeviceContext context() {
        return context;
    }

    /** Returns the protection domain. */
    public ProtectionDomain domain() {
        return domain;
    }

    /** Returns the completion queue of all queue pairs. */
    public CompletionQueue completions() {
        return completions;
    }

    /** Creates a queue pair of a reliable connection in the state RESET. */
    public QueuePair queuePair(int sends, int receives) {
        return queuePair(QueuePairType.RELIABLE_CONNECTION, sends, receives);
    }

    /** Creates a queue pair in the state RESET. */
    public QueuePair queuePair(QueuePairType type, int sends, int receives) {
        return domain.createQueuePair(
                QueuePairInitAttributes.of(type, completions, new QueuePairCapabilities(sends, receives, 1, 1, 0)));
    }

    /** Returns the path from this side to an address. */
    public AddressVector path(InetAddress peer) {
        return AddressVector.of(context.gidIndex(1, Gid.of(address)), Gid.of(peer));
    }

    /**
     * Creates a datagram queue pair that is ready to send and to receive.
     *
     * @param key its queue key
     */
    public QueuePair datagramQueuePair(int sends, int receives, int key) {
        QueuePair queuePair = queuePair(QueuePairType.UNRELIABLE_DATAGRAM, sends, receives);
        queuePair.modify(new QueuePairAttributes()
                .state(QueuePairState.INIT)
                .partitionKeyIndex(0)
                .port(1)
                .queueKey(key));
        queuePair.modify(new QueuePairAttributes().state(QueuePairState.READY_TO_RECEIVE));
        queuePair.modify(
                new QueuePairAttributes().state(QueuePairState.READY_TO_SEND).sendPsn(PSN));
        return queuePair;
    }

    /** Connects queue pairs of two sides with {@link RetryParameters#DEFAULT}. */
    public static void connect(VerbsSide a, QueuePair ofA, VerbsSide b, QueuePair ofB) {
        connect(a, ofA, b, ofB, RetryParameters.DEFAULT);
    }

    /** Connects queue pairs of two sides. */
    public static void connect(VerbsSide a, QueuePair ofA, VerbsSide b, QueuePair ofB, RetryParameters patience) {
        a.connect(ofA, b.address, ofB.number(), patience);
        b.connect(ofB, a.address, ofA.number(), patience);
    }

    /** Connects a queue pair of this side to one of another process. */
    public void connect(QueuePair local, InetAddress peer, int peerNumber, RetryParameters patience) {
        connect(local, path(peer), peerNumber, patience);
    }

    /** Connects a queue pair of this side by a path to one of another process. */
    public void connect(QueuePair local, AddressVector path, int peerNumber, RetryParameters patience) {
        local.modify(new QueuePairAttributes()
                .state(QueuePairState.INIT)
                .partitionKeyIndex(0)
                .port(1)
                .accessFlags(ALL));
        local.modify(new QueuePairAttributes()
                .state(QueuePairState.READY_TO_RECEIVE)
                .addressVector(path)
                .pathMtu(PathMtu.MTU_1024)
                .destinationQueuePair(peerNumber)
                .receivePsn(PSN)
                .maxDestinationReadAtomic(READS)
                .minRnrTimer(patience.minRnrTimer()));
        local.modify(new QueuePairAttributes()
                .state(QueuePairState.READY_TO_SEND)
                .sendPsn(PSN)
                .maxReadAtomic(READS)
                .retryCount(patience.retries())
                .rnrRetry(patience.rnrRetries())
                .timeout(patience.timeout()));
    }

    /**
     * Polls for one completion.
     *
     * @throws IllegalStateException if there is none within {@code limit}
     */
    public WorkCompletion await(Duration limit) {
        WorkCompletion[] one = WorkCompletion.array(1);
        long begin = System.nanoTime();
        while (completions.poll(one) == 0) {
            if (System.nanoTime() - begin > limit.toNanos()) {
                throw new IllegalStateException("no completion in " + limit);
            }
            Thread.onSpinWait();
        }
        return one[0];
    }

    @Override
    public void close() {
        context.close();
    }
}

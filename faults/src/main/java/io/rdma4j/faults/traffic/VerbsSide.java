package io.rdma4j.faults.traffic;

import io.rdma4j.verbs.AccessFlag;
import io.rdma4j.verbs.AddressVector;
import io.rdma4j.verbs.CompletionQueue;
import io.rdma4j.verbs.Device;
import io.rdma4j.verbs.DeviceContext;
import io.rdma4j.verbs.Gid;
import io.rdma4j.verbs.PathMtu;
import io.rdma4j.verbs.ProtectionDomain;
import io.rdma4j.verbs.QueuePair;
import io.rdma4j.verbs.QueuePairAttributes;
import io.rdma4j.verbs.QueuePairCapabilities;
import io.rdma4j.verbs.QueuePairInitAttributes;
import io.rdma4j.verbs.QueuePairState;
import io.rdma4j.verbs.QueuePairType;
import io.rdma4j.verbs.WorkCompletion;
import java.net.InetAddress;
import java.time.Duration;
import java.util.EnumSet;
import java.util.Set;

/**
 * A device and what queue pairs need, for tests that make and break queue pairs by the thousand without a connection
 * manager. Both sides of a connection may be in one process. Not thread safe.
 */
public final class VerbsSide implements AutoCloseable {
    /** All that a peer may be allowed. */
    public static final Set<AccessFlag> ALL = Set.copyOf(EnumSet.complementOf(EnumSet.of(AccessFlag.ZERO_BASED)));

    /**
     * What a connection bears before it fails.
     *
     * @param timeout exponent of the local ACK timeout, 4.096 µs times 2 to its power
     * @param retries retry count, 0 to 7
     * @param rnrRetries the same for receivers without a receive; 7 is for ever
     * @param minRnrTimer code of the time that a sender is to wait for a receive, 0 to 31
     */
    public record Patience(int timeout, int retries, int rnrRetries, int minRnrTimer) {
        /** 67 ms, seven times, for ever, 0.01 ms. */
        public static final Patience USUAL = new Patience(14, 7, 7, 1);
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
     * @param entries of the completion queue
     * @param vector its completion vector: another one is driven by another engine; taken modulo how many there are
     */
    public VerbsSide(InetAddress address, int entries, int vector) {
        this.address = address;
        context = Device.of(address)
                .orElseThrow(() -> new IllegalStateException("no RDMA device has " + address))
                .open();
        domain = context.createProtectionDomain();
        completions = context.createCompletionQueue(entries, null, null, vector % context.completionVectors());
    }

    /** The device. */
    public DeviceContext context() {
        return context;
    }

    /** The protection domain. */
    public ProtectionDomain domain() {
        return domain;
    }

    /** Where all queue pairs report. */
    public CompletionQueue completions() {
        return completions;
    }

    /** A reliable connection in the state RESET. */
    public QueuePair queuePair(int sends, int receives) {
        return queuePair(QueuePairType.RELIABLE_CONNECTION, sends, receives);
    }

    /** A queue pair in the state RESET. */
    public QueuePair queuePair(QueuePairType type, int sends, int receives) {
        return domain.createQueuePair(
                QueuePairInitAttributes.of(type, completions, new QueuePairCapabilities(sends, receives, 1, 1, 0)));
    }

    /** The path to an address from here. */
    public AddressVector path(InetAddress peer) {
        return new AddressVector(context.gids(1).indexOf(Gid.of(address)), Gid.of(peer), 0, 0, 64, 0, 1);
    }

    /**
     * A queue pair for datagrams, ready to send and to receive.
     *
     * @param key its queue key
     */
    public QueuePair datagramQueuePair(int sends, int receives, int key) {
        QueuePair made = queuePair(QueuePairType.UNRELIABLE_DATAGRAM, sends, receives);
        made.modify(new QueuePairAttributes()
                .state(QueuePairState.INIT)
                .partitionKeyIndex(0)
                .port(1)
                .queueKey(key));
        made.modify(new QueuePairAttributes().state(QueuePairState.READY_TO_RECEIVE));
        made.modify(
                new QueuePairAttributes().state(QueuePairState.READY_TO_SEND).sendPsn(PSN));
        return made;
    }

    /** Connects two queue pairs of two sides, with {@link Patience#USUAL}. */
    public static void connect(VerbsSide a, QueuePair ofA, VerbsSide b, QueuePair ofB) {
        connect(a, ofA, b, ofB, Patience.USUAL);
    }

    /** The same with another patience. */
    public static void connect(VerbsSide a, QueuePair ofA, VerbsSide b, QueuePair ofB, Patience patience) {
        a.connect(ofA, b.address, ofB.number(), patience);
        b.connect(ofB, a.address, ofA.number(), patience);
    }

    /** Connects a queue pair of this side to one of another process. */
    public void connect(QueuePair local, InetAddress peer, int peerNumber, Patience patience) {
        local.modify(new QueuePairAttributes()
                .state(QueuePairState.INIT)
                .partitionKeyIndex(0)
                .port(1)
                .accessFlags(ALL));
        local.modify(new QueuePairAttributes()
                .state(QueuePairState.READY_TO_RECEIVE)
                .addressVector(path(peer))
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
     * @throws IllegalStateException if none comes in time
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

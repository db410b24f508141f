package io.rdma4j.conformance.verbs;

import io.rdma4j.verbs.AccessFlag;
import io.rdma4j.verbs.AddressVector;
import io.rdma4j.verbs.CompletionChannel;
import io.rdma4j.verbs.CompletionQueue;
import io.rdma4j.verbs.Device;
import io.rdma4j.verbs.DeviceContext;
import io.rdma4j.verbs.Gid;
import io.rdma4j.verbs.MemoryRegion;
import io.rdma4j.verbs.PathMtu;
import io.rdma4j.verbs.ProtectionDomain;
import io.rdma4j.verbs.QueuePair;
import io.rdma4j.verbs.QueuePairAttributes;
import io.rdma4j.verbs.QueuePairCapabilities;
import io.rdma4j.verbs.QueuePairInitAttributes;
import io.rdma4j.verbs.QueuePairState;
import io.rdma4j.verbs.QueuePairType;
import io.rdma4j.verbs.ReceiveWorkRequest;
import io.rdma4j.verbs.WorkCompletion;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.net.InetAddress;
import java.util.EnumSet;
import java.util.Set;

/** One side of a connection at an address of the device under test, with all objects that it needs. */
final class Endpoint implements AutoCloseable {
    static final Set<AccessFlag> ALL = EnumSet.complementOf(EnumSet.of(AccessFlag.ZERO_BASED));
    static final QueuePairCapabilities CAPABILITIES = new QueuePairCapabilities(64, 64, 4, 4, 128);

    /** The queue key of the tests' datagram queue pairs. */
    static final int QUEUE_KEY = 0x0123_4567;

    final InetAddress address;
    final DeviceContext context;
    final ProtectionDomain domain;
    final CompletionChannel channel;
    final CompletionQueue completions;
    final QueuePair queuePair;
    final MemorySegment memory;
    final MemoryRegion region;
    final int psn = 0x123456;

    Endpoint(InetAddress address) {
        this(address, 1 << 20, 256);
    }

    Endpoint(InetAddress address, int memoryBytes, int entries) {
        this.address = address;
        context = Device.of(address).orElseThrow().open();
        domain = context.createProtectionDomain();
        channel = context.createCompletionChannel();
        completions = context.createCompletionQueue(entries, this, channel);
        queuePair = domain.createQueuePair(QueuePairInitAttributes.reliable(completions, CAPABILITIES));
        memory = Arena.ofAuto().allocate(memoryBytes, 4096);
        region = domain.register(memory, ALL);
    }

    static void connect(Endpoint a, Endpoint b) {
        connect(a, a.queuePair, b, b.queuePair);
    }

    static void connect(Endpoint a, QueuePair qpA, Endpoint b, QueuePair qpB) {
        a.connect(qpA, b.address, qpB.number(), b.psn);
        b.connect(qpB, a.address, qpA.number(), a.psn);
    }

    int gidIndex() {
        return context.gids(1).indexOf(Gid.of(address));
    }

    void connect(InetAddress peer, int peerNumber, int peerPsn) {
        connect(queuePair, peer, peerNumber, peerPsn);
    }

    void connect(QueuePair local, InetAddress peer, int peerNumber, int peerPsn) {
        toInit(local);
        toReadyToReceive(local, peer, peerNumber, peerPsn);
        local.modify(new QueuePairAttributes()
                .state(QueuePairState.READY_TO_SEND)
                .sendPsn(psn)
                .maxReadAtomic(16)
                .retryCount(7)
                .rnrRetry(7)
                .timeout(14));
    }

    static void toInit(QueuePair local) {
        local.modify(new QueuePairAttributes()
                .state(QueuePairState.INIT)
                .partitionKeyIndex(0)
                .port(1)
                .accessFlags(ALL));
    }

    void toReadyToReceive(QueuePair local, InetAddress peer, int peerNumber, int peerPsn) {
        local.modify(new QueuePairAttributes()
                .state(QueuePairState.READY_TO_RECEIVE)
                .addressVector(AddressVector.of(gidIndex(), Gid.of(peer)))
                .pathMtu(PathMtu.MTU_1024)
                .destinationQueuePair(peerNumber)
                .receivePsn(peerPsn)
                .maxDestinationReadAtomic(16)
                .minRnrTimer(1));
    }

    /** Creates a datagram queue pair in the state ready-to-send, with the tests' key. */
    QueuePair datagramQueuePair(CompletionQueue queue) {
        QueuePair created = domain.createQueuePair(
                QueuePairInitAttributes.of(QueuePairType.UNRELIABLE_DATAGRAM, queue, CAPABILITIES));
        created.modify(new QueuePairAttributes()
                .state(QueuePairState.INIT)
                .partitionKeyIndex(0)
                .port(1)
                .queueKey(QUEUE_KEY));
        created.modify(new QueuePairAttributes().state(QueuePairState.READY_TO_RECEIVE));
        created.modify(
                new QueuePairAttributes().state(QueuePairState.READY_TO_SEND).sendPsn(0));
        return created;
    }

    /** Posts a receive of the whole region. */
    void postReceive(long id) {
        queuePair.postReceive(new ReceiveWorkRequest().reset(id).into(region));
    }

    /** Polls until a completion arrives; fails after ten seconds. */
    WorkCompletion completion() {
        WorkCompletion[] one = WorkCompletion.array(1);
        long giveUp = System.nanoTime() + 10_000_000_000L;
        while (completions.poll(one) == 0) {
            if (System.nanoTime() - giveUp > 0) {
                throw new AssertionError("no completion in ten seconds");
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

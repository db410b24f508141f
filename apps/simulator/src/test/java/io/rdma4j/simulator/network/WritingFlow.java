package io.rdma4j.simulator.network;

import static org.assertj.core.api.Assertions.assertThat;

import io.rdma4j.transport.Completion;
import io.rdma4j.transport.CongestionMarks;
import io.rdma4j.transport.MemoryRegion;
import io.rdma4j.transport.QueuePairCounters;
import io.rdma4j.transport.QueuePairMachine;
import io.rdma4j.transport.RcQueuePair;
import io.rdma4j.transport.SendRequest;
import io.rdma4j.value.AccessFlag;
import io.rdma4j.value.CompletionStatus;
import io.rdma4j.value.SendOpcode;
import java.lang.foreign.MemorySegment;
import java.util.Objects;

/** A connection from a separate host that always has WRITEs to send. */
final class WritingFlow {
    private static final int MESSAGE_BYTES = 64 << 10;
    private static final int DEPTH = 16;

    private final int mtu;
    private final CongestionMarks marks;
    private final RcQueuePair queuePair;
    private final MemoryRegion local;
    private final MemoryRegion remote;
    private long written;

    /** Creates a host and starts writing from it to {@code receiver}. */
    WritingFlow(VirtualNetwork network, SimulatedHost receiver, int mtu) {
        this(network, receiver, mtu, CongestionMarks.OFF);
    }

    /** Creates a host and starts writing from it to {@code receiver}, with packets that routers may mark. */
    WritingFlow(VirtualNetwork network, SimulatedHost receiver, int mtu, CongestionMarks marks) {
        this.mtu = mtu;
        this.marks = marks;
        SimulatedHost host = network.addHost();
        local = register(host, AccessFlag.LOCAL_WRITE.bit());
        remote = register(receiver, AccessFlag.LOCAL_WRITE.bit() | AccessFlag.REMOTE_WRITE.bit());
        queuePair = queuePair(host);
        RcQueuePair remoteQueuePair = queuePair(receiver);
        enable(queuePair, host, remoteQueuePair, receiver);
        enable(remoteQueuePair, receiver, queuePair, host);
        for (int i = 0; i < DEPTH; i++) {
            write();
        }
    }

    /** Returns the number of bytes written. */
    long written() {
        return written;
    }

    /** Returns the counters of the writing side. */
    QueuePairCounters counters() {
        return queuePair.counters();
    }

    private static MemoryRegion register(SimulatedHost host, int access) {
        return host.memory().register(MemorySegment.ofArray(new byte[MESSAGE_BYTES]), 0x1000, access, 1);
    }

    private RcQueuePair queuePair(SimulatedHost host) {
        RcQueuePair newQueuePair = new RcQueuePair(
                host.unusedQueuePairNumber(),
                new QueuePairMachine.Configuration(DEPTH, 1, 1, 1, 0, false, 1),
                host.memory(),
                this::onCompletion,
                this::onCompletion,
                event -> {});
        host.add(newQueuePair);
        return newQueuePair;
    }

    private void enable(RcQueuePair localQueuePair, SimulatedHost host, RcQueuePair peer, SimulatedHost peerHost) {
        localQueuePair.toInit(AccessFlag.REMOTE_WRITE.bit());
        localQueuePair.congestionMarks(marks);
        QueuePairMachine.Peer path = new QueuePairMachine.Peer(
                host.addressHigh(),
                host.addressLow(),
                peerHost.addressHigh(),
                peerHost.addressLow(),
                0,
                peer.number(),
                0,
                64,
                0);
        localQueuePair.toReadyToReceive(new RcQueuePair.ReceiveParameters(path, mtu, 0, 0, 12));
        localQueuePair.toReadyToSend(new RcQueuePair.SendParameters(0, 0, 7, 7, 14, true));
    }

    private void write() {
        SendRequest request = Objects.requireNonNull(queuePair.sendQueue().claim());
        request.opcode = SendOpcode.RDMA_WRITE;
        request.signaled = true;
        request.remoteAddress = remote.address();
        request.remoteKey = remote.key();
        request.lengthBytes = MESSAGE_BYTES;
        request.list.add(local, 0, MESSAGE_BYTES);
        queuePair.sendQueue().publish();
    }

    private void onCompletion(Completion completion) {
        assertThat(completion.status).isEqualTo(CompletionStatus.SUCCESS);
        written += MESSAGE_BYTES;
        write();
    }
}

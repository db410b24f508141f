package io.rdma4j.testkit;

import static org.assertj.core.api.Assertions.assertThat;

import io.rdma4j.transport.AccessFlags;
import io.rdma4j.transport.Completion;
import io.rdma4j.transport.MemoryRegion;
import io.rdma4j.transport.QueuePairMachine;
import io.rdma4j.transport.RcQueuePair;
import io.rdma4j.transport.SendRequest;
import io.rdma4j.transport.WorkOpcode;
import io.rdma4j.transport.WorkStatus;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

/** What connections get of a link that is slower than all of them: simulated, in virtual time, with fixed seeds. */
class SharedLinkTest {
    private static final long BYTES_PER_SECOND = 1_250_000_000;
    private static final long BUFFER_BYTES = 512 << 10;
    private static final int MESSAGE_BYTES = 64 << 10;
    private static final int MTU = 4096;
    private static final int DEPTH = 16;

    private final VirtualNetwork network =
            new VirtualNetwork(1, new NetworkFaults(0, 0, 0, 0, TimeUnit.MICROSECONDS.toNanos(20), 0));
    private final SimulatedHost receiver = network.addHost();
    private final List<Flow> flows = new ArrayList<>();

    SharedLinkTest() {
        network.slowDown(receiver, BYTES_PER_SECOND, BUFFER_BYTES);
    }

    /** A connection of a host of its own that always has writes to send. */
    private final class Flow {
        private final RcQueuePair queuePair;
        private final MemoryRegion local;
        private final MemoryRegion remote;
        private long written;

        Flow() {
            SimulatedHost host = network.addHost();
            local = register(host, AccessFlags.LOCAL_WRITE);
            remote = register(receiver, AccessFlags.LOCAL_WRITE | AccessFlags.REMOTE_WRITE);
            queuePair = queuePair(host);
            RcQueuePair far = queuePair(receiver);
            enable(queuePair, host, far, receiver);
            enable(far, receiver, queuePair, host);
            for (int i = 0; i < DEPTH; i++) {
                write();
            }
        }

        private MemoryRegion register(SimulatedHost host, int access) {
            return host.memory().register(MemorySegment.ofArray(new byte[MESSAGE_BYTES]), 0x1000, access, 1);
        }

        private RcQueuePair queuePair(SimulatedHost host) {
            RcQueuePair made = new RcQueuePair(
                    host.unusedQueuePairNumber(),
                    new QueuePairMachine.Configuration(DEPTH, 1, 1, 1, 0, false, 1),
                    host.memory(),
                    this::onCompletion,
                    this::onCompletion,
                    event -> {});
            host.add(made);
            return made;
        }

        private void enable(RcQueuePair one, SimulatedHost host, RcQueuePair peer, SimulatedHost peerHost) {
            one.toInit(AccessFlags.REMOTE_WRITE);
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
            one.toReadyToReceive(new RcQueuePair.ReceiveParameters(path, MTU, 0, 0, 12));
            one.toReadyToSend(new RcQueuePair.SendParameters(0, 0, 7, 7, 14, true));
        }

        private void write() {
            SendRequest request = Objects.requireNonNull(queuePair.sendQueue().claim());
            request.opcode = WorkOpcode.RDMA_WRITE;
            request.signaled = true;
            request.remoteAddress = remote.address();
            request.remoteKey = remote.key();
            request.lengthBytes = MESSAGE_BYTES;
            request.list.add(local, 0, MESSAGE_BYTES);
            queuePair.sendQueue().publish();
        }

        private void onCompletion(Completion completion) {
            assertThat(completion.status).isEqualTo(WorkStatus.SUCCESS);
            written += MESSAGE_BYTES;
            write();
        }
    }

    /** What each connection gets of the link within so many milliseconds, as parts of what the link can carry. */
    private double[] shares(long millis) {
        long[] before = flows.stream().mapToLong(flow -> flow.written).toArray();
        long begin = network.nowNanos();
        long end = begin + TimeUnit.MILLISECONDS.toNanos(millis);
        while (network.nowNanos() < end) {
            assertThat(network.step()).isTrue();
        }
        double capacity = BYTES_PER_SECOND * (network.nowNanos() - begin) / 1e9;
        double[] shares = new double[before.length];
        Arrays.setAll(shares, i -> (flows.get(i).written - before[i]) / capacity);
        return shares;
    }

    private static double sum(double[] shares) {
        return Arrays.stream(shares).sum();
    }

    /** Jain's index: 1 if all have the same, 1/n if one has all. */
    private static double fairness(double[] shares) {
        double squares = Arrays.stream(shares).map(share -> share * share).sum();
        return sum(shares) * sum(shares) / squares / shares.length;
    }

    @Test
    void aloneAConnectionFillsTheLink() {
        flows.add(new Flow());
        assertThat(sum(shares(20))).isGreaterThan(0.95);
        assertThat(network.lostFrames()).isZero();
    }

    @Test
    void aThirdConnectionGetsAsMuchOfAFullLinkAsTheFirstTwo() {
        comeOneByOneAndShare(3);
    }

    @Test
    void sixConnectionsThatComeOneByOneGetEqualShares() {
        comeOneByOneAndShare(6);
    }

    private void comeOneByOneAndShare(int count) {
        for (int i = 0; i < count; i++) {
            flows.add(new Flow());
            shares(2);
        }
        shares(60);
        double[] shares = shares(40);
        assertThat(fairness(shares)).isGreaterThan(0.95);
        assertThat(sum(shares)).isGreaterThan(0.8);
    }
}

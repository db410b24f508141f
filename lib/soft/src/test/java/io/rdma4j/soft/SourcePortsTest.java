package io.rdma4j.soft;

import static org.assertj.core.api.Assertions.assertThat;

import io.rdma4j.fixture.TestEndpoint;
import io.rdma4j.value.Gid;
import io.rdma4j.value.PathMtu;
import io.rdma4j.value.QueuePairState;
import io.rdma4j.verbs.AddressHandle;
import io.rdma4j.verbs.AddressVector;
import io.rdma4j.verbs.QueuePair;
import io.rdma4j.verbs.QueuePairAttributes;
import io.rdma4j.verbs.QueuePairInitAttributes;
import io.rdma4j.verbs.SendWorkRequest;
import io.rdma4j.verbs.WorkCompletion;
import io.rdma4j.wire.FlowLabel;
import io.rdma4j.wire.Frame;
import java.net.InetAddress;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Each queue pair sends from the UDP source port that Linux computes for it, so that networks spread queue pairs over their paths. */
class SourcePortsTest {
    private static final long STEP_NANOS = 1_000;
    private static final int QUEUE_PAIRS = 16;
    private static final String LEFT = "10.0.0.1";
    private static final String RIGHT = "10.0.0.2";

    private final SteppedHosts hosts = new SteppedHosts(STEP_NANOS);
    private final WorkCompletion[] completions = WorkCompletion.array(16);

    /** The source ports seen, by the lower half of the source address. */
    private final Map<Long, Set<Integer>> ports = new HashMap<>();

    @SuppressWarnings("NullAway.Init")
    private TestEndpoint left;

    @SuppressWarnings("NullAway.Init")
    private TestEndpoint right;

    @BeforeEach
    void open() {
        left = hosts.endpoint("left", LEFT);
        right = hosts.endpoint("right", RIGHT);
        hosts.network.observe(this::note);
    }

    @AfterEach
    void close() {
        left.close();
        right.close();
        hosts.close();
    }

    private void note(Frame frame) {
        ports.computeIfAbsent(frame.sourceLow, _ -> new HashSet<>()).add(frame.sourcePort);
    }

    private Set<Integer> portsOf(String address) {
        return ports.getOrDefault(Gid.of(InetAddress.ofLiteral(address)).low(), Set.of());
    }

    private void await(TestEndpoint endpoint) {
        for (int i = 0; i < 10_000; i++) {
            hosts.step(0);
            if (endpoint.completions.poll(completions) > 0) {
                assertThat(completions[0].isSuccess()).isTrue();
                return;
            }
        }
        throw new AssertionError("no completion");
    }

    private void write(QueuePair from) {
        from.postSend(new SendWorkRequest()
                .reset(1)
                .write(right.region.address(), right.region.remoteKey())
                .from(left.region, 0, 64)
                .signaled());
    }

    private QueuePair reliable(TestEndpoint endpoint) {
        return endpoint.domain.createQueuePair(
                QueuePairInitAttributes.reliable(endpoint.completions, TestEndpoint.CAPABILITIES));
    }

    @Test
    void connectionsUseThePortsOfTheirQueuePairNumbersInBothDirections() {
        Set<Integer> expected = new HashSet<>();
        for (int i = 0; i < QUEUE_PAIRS; i++) {
            QueuePair a = reliable(left);
            QueuePair b = reliable(right);
            TestEndpoint.connect(left, a, right, b);
            expected.add(FlowLabel.sourcePort(FlowLabel.ofQueuePairs(a.number(), b.number())));
            write(a);
            await(left);
        }
        assertThat(expected).hasSizeGreaterThan(QUEUE_PAIRS - 2);
        assertThat(portsOf(LEFT)).isEqualTo(expected);
        assertThat(portsOf(RIGHT)).as("of acknowledgements").isEqualTo(expected);
    }

    /** Connects one direction with a path; the other end has the path of {@link TestEndpoint}. */
    private QueuePair connectedBy(AddressVector path) {
        QueuePair a = reliable(left);
        QueuePair b = reliable(right);
        right.connect(b, left.address, a.number(), left.psn);
        TestEndpoint.toInit(a);
        a.modify(new QueuePairAttributes()
                .state(QueuePairState.READY_TO_RECEIVE)
                .addressVector(path)
                .pathMtu(PathMtu.MTU_1024)
                .destinationQueuePair(b.number())
                .receivePsn(right.psn)
                .maxDestinationReadAtomic(16)
                .minRnrTimer(1));
        a.modify(new QueuePairAttributes()
                .state(QueuePairState.READY_TO_SEND)
                .sendPsn(left.psn)
                .maxReadAtomic(16)
                .retryCount(7)
                .rnrRetry(7)
                .timeout(14));
        return a;
    }

    @Test
    void pathReachesTheHeadersOfThePackets() {
        List<Frame> frames = new ArrayList<>();
        QueuePair queuePair = connectedBy(AddressVector.of(left.gidIndex(), Gid.of(right.address))
                .withFlowLabel(0x12345)
                .withHopLimit(9)
                .withTrafficClass(0x68));
        hosts.network.observe(frame -> {
            Frame copy = new Frame();
            copy.set(frame);
            frames.add(copy);
        });
        write(queuePair);
        await(left);
        Frame first = frames.getFirst();
        assertThat(first.sourcePort).isEqualTo(FlowLabel.sourcePort(0x12345));
        assertThat(first.hopLimit).isEqualTo(9);
        assertThat(first.flowLabel).isEqualTo(0x12345);
        assertThat(first.trafficClass).isEqualTo(0x68);
        assertThat(frames.getLast().hopLimit).as("of the acknowledgement").isEqualTo(64);
    }

    @Test
    void hopLimitZeroIsTheUsualOne() {
        List<Integer> hopLimits = new ArrayList<>();
        hosts.network.observe(frame -> hopLimits.add(frame.hopLimit));
        write(connectedBy(
                AddressVector.of(left.gidIndex(), Gid.of(right.address)).withHopLimit(0)));
        await(left);
        assertThat(hopLimits).containsOnly(64);
    }

    @Test
    void datagramsUseThePortOfTheirQueuePair() {
        QueuePair from = left.datagramQueuePair(left.completions);
        QueuePair to = right.datagramQueuePair(right.completions);
        try (AddressHandle handle = left.domain.createAddressHandle(
                AddressVector.of(left.gidIndex(), Gid.of(right.address)).withHopLimit(7))) {
            List<Integer> hopLimits = new ArrayList<>();
            hosts.network.observe(frame -> {
                note(frame);
                hopLimits.add(frame.hopLimit);
            });
            from.postSend(new SendWorkRequest()
                    .reset(1)
                    .to(handle, to.number(), TestEndpoint.QUEUE_KEY)
                    .from(left.region, 0, 64)
                    .signaled());
            await(left);
            assertThat(portsOf(LEFT)).containsExactly(FlowLabel.datagramSourcePort(from.number()));
            assertThat(hopLimits).containsExactly(7);
        }
    }

    /** The receiver may be another process that shares the address, which identifies this one by its UDP port. */
    @Test
    void packetsToTheOwnAddressComeFromThePortOfTheLink() {
        QueuePair a = reliable(left);
        QueuePair b = reliable(left);
        TestEndpoint.connect(left, a, left, b);
        a.postSend(new SendWorkRequest()
                .reset(1)
                .write(left.region.address(), left.region.remoteKey())
                .from(left.region, 0, 64)
                .signaled());
        await(left);
        assertThat(portsOf(LEFT)).isSubsetOf(Frame.UDP_PORT);
    }
}

package io.rdma4j.testkit;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

import io.rdma4j.cm.CmEvent;
import io.rdma4j.cm.CmId;
import io.rdma4j.cm.ConnectionParameters;
import io.rdma4j.cm.EventChannel;
import io.rdma4j.value.AccessFlag;
import io.rdma4j.value.CompletionStatus;
import io.rdma4j.value.PortSpace;
import io.rdma4j.value.QueuePairState;
import io.rdma4j.verbs.CompletionChannel;
import io.rdma4j.verbs.CompletionQueue;
import io.rdma4j.verbs.DeviceContext;
import io.rdma4j.verbs.MemoryRegion;
import io.rdma4j.verbs.QueuePair;
import io.rdma4j.verbs.QueuePairCapabilities;
import io.rdma4j.verbs.QueuePairInitAttributes;
import io.rdma4j.verbs.SendWorkRequest;
import io.rdma4j.verbs.WorkCompletion;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Objects;
import java.util.Queue;
import java.util.SplittableRandom;
import java.util.zip.CRC32C;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/** Two stacks of one process in virtual time, used by one thread. */
class VirtualTimeTest {
    private static final Duration TIMEOUT = Duration.ofSeconds(10);
    private static final int PORT = 7471;
    private static final int CHUNK_BYTES = 1 << 20;
    private static final int DEPTH = 8;

    /** The offset of memory in its page is part of the addresses in packets. */
    private static final int PAGE_BYTES = 4096;

    /** The outcome of a run. */
    private record Run(long frames, long hash, long nanos, boolean isRight) {}

    @Test
    void aGigabyteOverALossyLinkReplaysFromItsSeed() {
        Run run = write(1024, 1);
        assertThat(run.isRight()).isTrue();
        assertThat(run.frames()).isGreaterThan(1L << 18); // packets of 4096 bytes
    }

    @Test
    void theSameSeedSendsTheSameFramesAtTheSameTimes() {
        Run run = write(32, 7);
        assertThat(write(32, 7)).isEqualTo(run);
        assertThat(write(32, 8).hash()).isNotEqualTo(run.hash());
    }

    @Test
    void aTimeoutOfMinutesTakesNoTime() {
        try (TestNetwork network = TestNetwork.inVirtualTime(3)) {
            TestHost client = network.addHost("10.0.0.1");
            try (EventChannel events = client.connectionManager().openEventChannel();
                    CmId id = events.createId(PortSpace.TCP)) {
                id.resolveAddress(new InetSocketAddress("10.0.0.9", PORT), TIMEOUT);
                assertThat(next(network, events)).isEqualTo(CmEvent.Type.ADDRESS_RESOLVED);
                id.resolveRoute(TIMEOUT);
                assertThat(next(network, events)).isEqualTo(CmEvent.Type.ROUTE_RESOLVED);
                id.createQueuePair(QueuePairInitAttributes.of(new QueuePairCapabilities(1, 1, 1, 1, 0)));
                id.connect(ConnectionParameters.defaults());
                assertThat(next(network, events)).isEqualTo(CmEvent.Type.UNREACHABLE);
                assertThat(network.time().elapsed()).isGreaterThan(Duration.ofSeconds(30));
            }
        }
    }

    @Test
    void waitingForACompletionTakesTheVirtualTimeOfItsTimeout() {
        try (TestNetwork network = TestNetwork.inVirtualTime(4);
                DeviceContext context = network.addHost("10.0.0.1").device().open();
                CompletionChannel channel = context.createCompletionChannel();
                CompletionQueue queue = context.createCompletionQueue(4, channel)) {
            Duration before = network.time().elapsed();
            assertThat(queue.await(WorkCompletion.array(1), Duration.ofMinutes(5)))
                    .isZero();
            assertThat(network.time().elapsed().minus(before)).isEqualTo(Duration.ofMinutes(5));
        }
    }

    @Test
    void aStepWithoutTimersThrowsInsteadOfHanging() {
        try (TestNetwork network = TestNetwork.inVirtualTime(1)) {
            network.addHost("10.0.0.1");
            network.time().step();
            assertThatIllegalStateException().isThrownBy(network.time()::step).withMessageContaining("nothing");
        }
    }

    /** Time does not pass during the call, so the peer does not reply. */
    @Test
    void finishingAStackWhosePeerDoesNotReplyLeavesNoThread() {
        try (TestNetwork network = TestNetwork.inVirtualTime(5);
                Arena arena = Arena.ofShared()) {
            TestHost server = network.addHost("10.0.0.1");
            TestHost client = network.addHost("10.0.0.2");
            Writer writer = new Writer(network, arena, 5);
            try (EventChannel atServer = server.connectionManager().openEventChannel();
                    EventChannel atClient = client.connectionManager().openEventChannel();
                    CmId listener = atServer.createId(PortSpace.TCP);
                    CmId id = atClient.createId(PortSpace.TCP)) {
                writer.connect(atServer, listener, atClient, id, server);
                client.stack().finish();
                assertThat(Thread.getAllStackTraces().keySet())
                        .noneMatch(thread -> thread.getName().equals("rdma4j-disconnect-all"));
                Objects.requireNonNull(writer.accepted).close();
            }
        }
    }

    @Test
    void anIdleServerNoticesThatItsClientHasLostItsNetwork() {
        try (TestNetwork network = TestNetwork.inVirtualTime(6);
                Arena arena = Arena.ofShared()) {
            TestHost server = network.addHost("10.0.0.1");
            TestHost client = network.addHost("10.0.0.2");
            Writer writer = new Writer(network, arena, 6);
            try (EventChannel atServer = server.connectionManager().openEventChannel();
                    EventChannel atClient = client.connectionManager().openEventChannel();
                    CmId listener = atServer.createId(PortSpace.TCP);
                    CmId id = atClient.createId(PortSpace.TCP)) {
                writer.connect(atServer, listener, atClient, id, server);
                try (CmId accepted = Objects.requireNonNull(writer.accepted)) {
                    QueuePair queuePair = Objects.requireNonNull(accepted.queuePair());
                    network.time().advance(Duration.ofMinutes(10));
                    assertThat(queuePair.state()).isEqualTo(QueuePairState.READY_TO_SEND);
                    assertThat(queuePair.counters().get("idle_probes")).isBetween(5L, 20L);
                    network.conditions("loss=100%");
                    Duration before = network.time().elapsed();
                    assertThat(network.time()
                                    .await(
                                            () -> queuePair.state() == QueuePairState.ERROR,
                                            Duration.ofSeconds(60 + 60 + 20)))
                            .isTrue();
                    assertThat(network.time().elapsed().minus(before)).isLessThan(Duration.ofSeconds(60 + 20));
                }
            }
        }
    }

    private static CmEvent.Type next(TestNetwork network, EventChannel events) {
        CmEvent event = events.poll();
        while (event == null) {
            network.time().step();
            event = events.poll();
        }
        CmEvent.Type type = event.type();
        event.acknowledge();
        return type;
    }

    /** Writes megabytes from one host into the memory of another, over a link that loses one packet in fifty. */
    private static Run write(int megabytes, long seed) {
        CRC32C crc = new CRC32C();
        long[] frames = new long[1];
        try (TestNetwork network = TestNetwork.inVirtualTime(seed);
                Arena arena = Arena.ofShared()) {
            network.observe(frame -> {
                frames[0]++;
                crc.update(frame.segment
                        .asSlice(frame.offset, Math.min(frame.length, 64))
                        .asByteBuffer());
            });
            HostOptions lossy = new HostOptions().withFaults("loss=2%,seed=" + seed);
            TestHost server = network.addHost("10.0.0.1");
            TestHost client = network.addHost("10.0.0.2", lossy);
            boolean right = new Writer(network, arena, seed).run(server, client, megabytes);
            return new Run(frames[0], crc.getValue(), network.time().elapsedNanos(), right);
        }
    }

    /** A connection. Its client writes chunks cyclically into the server's memory. */
    private static final class Writer {
        private final TestNetwork network;
        private final MemorySegment source;
        private final MemorySegment target;
        private @Nullable CmId accepted;

        Writer(TestNetwork network, Arena arena, long seed) {
            this.network = network;
            source = arena.allocate((long) DEPTH * CHUNK_BYTES, PAGE_BYTES);
            target = arena.allocate((long) DEPTH * CHUNK_BYTES, PAGE_BYTES);
            SplittableRandom random = new SplittableRandom(seed);
            byte[] bytes = new byte[DEPTH * CHUNK_BYTES];
            random.nextBytes(bytes);
            MemorySegment.copy(MemorySegment.ofArray(bytes), 0, source, 0, bytes.length);
        }

        boolean run(TestHost server, TestHost client, int chunks) {
            try (EventChannel atServer = server.connectionManager().openEventChannel();
                    EventChannel atClient = client.connectionManager().openEventChannel();
                    CmId listener = atServer.createId(PortSpace.TCP);
                    CmId id = atClient.createId(PortSpace.TCP)) {
                connect(atServer, listener, atClient, id, server);
                try (CmId passive = Objects.requireNonNull(accepted);
                        MemoryRegion remote = passive.protectionDomain()
                                .register(target, AccessFlag.LOCAL_WRITE, AccessFlag.REMOTE_WRITE);
                        MemoryRegion local = id.protectionDomain().register(source, AccessFlag.LOCAL_WRITE)) {
                    post(id, local, remote, chunks);
                    id.disconnect();
                    assertThat(next(network, atServer)).isEqualTo(CmEvent.Type.ESTABLISHED);
                    assertThat(next(network, atServer)).isEqualTo(CmEvent.Type.DISCONNECTED);
                    passive.disconnect();
                    assertThat(next(network, atClient)).isEqualTo(CmEvent.Type.DISCONNECTED);
                }
            }
            return target.mismatch(source) == -1;
        }

        void connect(EventChannel atServer, CmId listener, EventChannel atClient, CmId id, TestHost server) {
            listener.bindAddress(new InetSocketAddress(server.address(), PORT));
            listener.listen(1);
            id.resolveAddress(new InetSocketAddress(server.address(), PORT), TIMEOUT);
            assertThat(next(network, atClient)).isEqualTo(CmEvent.Type.ADDRESS_RESOLVED);
            id.resolveRoute(TIMEOUT);
            assertThat(next(network, atClient)).isEqualTo(CmEvent.Type.ROUTE_RESOLVED);
            id.createQueuePair(QueuePairInitAttributes.of(new QueuePairCapabilities(DEPTH, 1, 1, 1, 0)));
            id.connect(ConnectionParameters.defaults());
            accept(atServer);
            assertThat(next(network, atClient)).isEqualTo(CmEvent.Type.ESTABLISHED);
        }

        private void accept(EventChannel events) {
            CmEvent request = await(events);
            CmId id = request.id();
            accepted = id;
            id.createQueuePair(QueuePairInitAttributes.of(new QueuePairCapabilities(1, 1, 1, 1, 0)));
            request.acknowledge();
            id.accept(ConnectionParameters.defaults());
        }

        private CmEvent await(EventChannel events) {
            CmEvent event = events.poll();
            while (event == null) {
                network.time().step();
                event = events.poll();
            }
            return event;
        }

        private void post(CmId id, MemoryRegion local, MemoryRegion remote, int chunks) {
            CompletionQueue completions = Objects.requireNonNull(id.sendCompletions());
            WorkCompletion[] done = {new WorkCompletion()};
            SendWorkRequest request = new SendWorkRequest();
            Queue<Integer> free = new ArrayDeque<>();
            for (int i = 0; i < DEPTH; i++) {
                free.add(i);
            }
            int posted = 0;
            int completed = 0;
            while (completed < chunks) {
                while (posted < chunks && !free.isEmpty()) {
                    int slot = free.remove();
                    long at = (long) slot * CHUNK_BYTES;
                    Objects.requireNonNull(id.queuePair())
                            .postSend(request.reset(slot)
                                    .from(local, at, CHUNK_BYTES)
                                    .write(remote.address() + at, remote.remoteKey())
                                    .signaled());
                    posted++;
                }
                if (completions.poll(done) == 1) {
                    assertThat(done[0].status()).isEqualTo(CompletionStatus.SUCCESS);
                    free.add((int) done[0].id());
                    completed++;
                } else {
                    network.time().step();
                }
            }
        }
    }
}

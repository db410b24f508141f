package io.rdma4j.soft.events;

import static org.assertj.core.api.Assertions.assertThat;

import io.rdma4j.cm.CmId;
import io.rdma4j.cm.ConnectionParameters;
import io.rdma4j.fixture.ChildProcess;
import io.rdma4j.fixture.TestEndpoint;
import io.rdma4j.soft.SoftStack;
import io.rdma4j.soft.TestAddresses;
import io.rdma4j.value.AccessFlag;
import io.rdma4j.value.CompletionStatus;
import io.rdma4j.value.PortSpace;
import io.rdma4j.verbs.MemoryRegion;
import io.rdma4j.verbs.QueuePair;
import io.rdma4j.verbs.QueuePairInitAttributes;
import io.rdma4j.verbs.RdmaException;
import io.rdma4j.verbs.RemoteMemory;
import io.rdma4j.verbs.SendWorkRequest;
import io.rdma4j.verbs.WorkCompletion;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import jdk.jfr.Recording;
import jdk.jfr.consumer.RecordedEvent;
import jdk.jfr.consumer.RecordingFile;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** The events that the software device writes for Flight Recorder. */
@Timeout(120)
class FlightEventsTest {
    private static final int BYTES = 1 << 20;
    private static final Duration TIMEOUT = Duration.ofSeconds(10);

    @TempDir
    @SuppressWarnings("NullAway.Init")
    Path folder;

    @Test
    void aLossyConnectionIsReportedFromItsSetupToItsEnd() throws Exception {
        String address = TestAddresses.loopback().getHostAddress();
        try (RecordedEvents events = new RecordedEvents();
                SoftStack server = lossyStack(1);
                SoftStack client = lossyStack(2);
                CmId listener = server.connectionManager()
                        .listen(new InetSocketAddress(address, 0), QueuePairInitAttributes.defaults())) {
            CompletableFuture<Void> served = CompletableFuture.runAsync(() -> serve(listener));
            String serverText = address + ":" + listener.sourcePort();
            String clientNumber;
            try (CmId connection = connect(client, address, listener.sourcePort())) {
                clientNumber = FlightEvents.queuePair(
                        Objects.requireNonNull(connection.queuePair()).number());
                write(connection);
                requireSetup(events, serverText, clientNumber);
                requireRetransmission(events, address, clientNumber);
                requireCounters(events, address, clientNumber);
                connection.disconnect();
            }
            served.get(20, TimeUnit.SECONDS);
            requireEnd(events, serverText, clientNumber);
            requireOwnership(events, address);
        }
    }

    private SoftStack lossyStack(int seed) {
        return SoftStack.builder()
                .runDirectory(folder.resolve("run"))
                .faults("loss=3%,seed=" + seed)
                .build();
    }

    private static void serve(CmId listener) {
        try (Arena arena = Arena.ofShared();
                CmId connection = listener.getRequest();
                MemoryRegion region = connection
                        .protectionDomain()
                        .register(arena.allocate(BYTES), AccessFlag.LOCAL_WRITE, AccessFlag.REMOTE_WRITE)) {
            connection.accept(ConnectionParameters.defaults()
                    .withPrivateData(region.remote().encode()));
            connection.awaitDisconnect();
        }
    }

    /** Connects from the same address: the address that the host would choose may belong to the process's stack. */
    private static CmId connect(SoftStack stack, String address, int port) {
        CmId id = stack.connectionManager().createId(PortSpace.TCP);
        id.bindAddress(new InetSocketAddress(address, 0));
        id.resolveAddress(new InetSocketAddress(address, port), TIMEOUT);
        id.resolveRoute(TIMEOUT);
        id.createQueuePair(QueuePairInitAttributes.defaults());
        id.connect(ConnectionParameters.defaults());
        return id;
    }

    private static void write(CmId connection) {
        QueuePair queuePair = Objects.requireNonNull(connection.queuePair());
        WorkCompletion[] one = WorkCompletion.array(1);
        try (Arena arena = Arena.ofShared();
                MemoryRegion region = connection.protectionDomain().register(arena.allocate(BYTES))) {
            queuePair.postWrite(0, region, 0, BYTES, RemoteMemory.decode(connection.peerPrivateData()));
            queuePair.sendCompletions().await(one);
            assertThat(one[0].status()).isEqualTo(CompletionStatus.SUCCESS);
        }
    }

    private static void requireSetup(RecordedEvents events, String serverText, String clientNumber)
            throws InterruptedException {
        RecordedEvent active = events.await(
                "ConnectionSetup",
                event -> event.getBoolean("active") && event.getString("peer").equals(serverText));
        assertThat(active.getString("result")).isEqualTo("established");
        assertThat(active.getString("queuePair")).isEqualTo(clientNumber);
        assertThat(active.getString("device")).startsWith("rdma4j_");
        assertThat(active.getDuration()).isPositive().isLessThan(Duration.ofMinutes(1));
        RecordedEvent passive = events.await(
                "ConnectionSetup",
                event -> !event.getBoolean("active") && event.getString("local").equals(serverText));
        assertThat(passive.getString("result")).isEqualTo("established");
        assertThat(passive.getString("peerQueuePair")).isEqualTo(clientNumber);
        assertThat(passive.getString("queuePair")).isEqualTo(active.getString("peerQueuePair"));
    }

    private static void requireRetransmission(RecordedEvents events, String address, String clientNumber)
            throws InterruptedException {
        RecordedEvent event = events.await(
                "Retransmission", each -> each.getString("queuePair").equals(clientNumber));
        assertThat(event.getString("local")).isEqualTo(address);
        assertThat(event.getString("peer")).isEqualTo(address);
        assertThat(event.getString("cause"))
                .isIn("acknowledgement timeout", "sequence NAK", "lost response", "tail-loss probe");
        assertThat(event.getLong("packets")).isPositive();
    }

    private static void requireCounters(RecordedEvents events, String address, String clientNumber)
            throws InterruptedException {
        RecordedEvent pair = events.await(
                "QueuePairCounters",
                each -> each.getString("queuePair").equals(clientNumber) && each.getLong("completedSends") == 1);
        assertThat(pair.getString("type")).isEqualTo("RELIABLE_CONNECTION");
        assertThat(pair.getString("state")).isEqualTo("READY_TO_SEND");
        assertThat(pair.getString("peer")).isEqualTo(address);
        assertThat(pair.getLong("sentBytes")).isGreaterThan(BYTES);
        assertThat(pair.getLong("receivedBytes")).isPositive().isLessThan(BYTES);
        assertThat(pair.getLong("sentPackets")).isGreaterThanOrEqualTo(BYTES / 4096);
        assertThat(pair.getLong("retransmittedPackets")).isPositive();
        // Other stacks of this process have no queue pair now, but may have completed sends before.
        RecordedEvent device = events.await(
                "DeviceCounters", each -> each.getInt("queuePairs") == 1 && each.getLong("completedSends") >= 1);
        assertThat(device.getString("device")).isEqualTo(pair.getString("device"));
        assertThat(device.getInt("queuePairs")).isEqualTo(1);
        assertThat(device.getLong("sentPackets")).isGreaterThanOrEqualTo(BYTES / 4096);
        assertThat(device.getLong("sentBytes")).isGreaterThan(BYTES);
    }

    private static void requireEnd(RecordedEvents events, String serverText, String clientNumber)
            throws InterruptedException {
        RecordedEvent active = events.await(
                "ConnectionEnd", event -> event.getString("queuePair").equals(clientNumber));
        assertThat(active.getString("peer")).isEqualTo(serverText);
        assertThat(active.getString("reason")).startsWith("disconnected by this side");
        assertThat(active.getDuration("lifetime")).isPositive();
        RecordedEvent passive = events.await(
                "ConnectionEnd", event -> event.getString("peerQueuePair").equals(clientNumber));
        assertThat(passive.getString("local")).isEqualTo(serverText);
        assertThat(passive.getString("reason")).startsWith("disconnected by the peer");
    }

    private static void requireOwnership(RecordedEvents events, String address) throws InterruptedException {
        for (String role : List.of("owner", "member")) {
            RecordedEvent event = events.await(
                    "PortOwnership",
                    each -> each.getString("address").equals(address)
                            && each.getString("role").equals(role));
            assertThat(event.getInt("slot")).isBetween(1, 254);
        }
    }

    @Test
    void aConnectionThatIsRefusedIsReportedWithTheReason() throws InterruptedException {
        String address = TestAddresses.loopback().getHostAddress();
        try (RecordedEvents events = new RecordedEvents();
                SoftStack stack =
                        SoftStack.builder().runDirectory(folder.resolve("run")).build()) {
            RdmaException refusal = org.assertj.core.api.Assertions.catchThrowableOfType(
                    RdmaException.class, () -> connect(stack, address, 9).close());
            assertThat(refusal).isNotNull();
            RecordedEvent event = events.await(
                    "ConnectionSetup", each -> each.getString("peer").equals(address + ":9"));
            assertThat(event.getString("result")).startsWith("rejected by the peer: ");
        }
    }

    @Test
    void aMessageWithoutAReceiveIsReportedByBothSides() throws InterruptedException {
        InetAddress address = TestAddresses.loopback();
        try (RecordedEvents events = new RecordedEvents();
                TestEndpoint a = new TestEndpoint(address);
                TestEndpoint b = new TestEndpoint(address)) {
            TestEndpoint.connect(a, b);
            a.queuePair.postSend(SendWorkRequest.send(1, a.region, 0, 100).signaled());
            RecordedEvent received = events.await(
                    "ReceiverNotReady",
                    each -> each.getString("queuePair").equals(number(a)) && each.getLong("received") > 0);
            assertThat(received.getString("peer")).isEqualTo(address.getHostAddress());
            RecordedEvent sent = events.await(
                    "ReceiverNotReady",
                    each -> each.getString("queuePair").equals(number(b)) && each.getLong("sent") > 0);
            assertThat(sent.getString("local")).isEqualTo(address.getHostAddress());
            b.postReceive(2);
            assertThat(a.completion().isSuccess()).isTrue();
        }
    }

    private static String number(TestEndpoint endpoint) {
        return FlightEvents.queuePair(endpoint.queuePair.number());
    }

    @Test
    void anErrorOfAQueuePairIsReportedByBothSides() throws InterruptedException {
        InetAddress address = TestAddresses.loopback();
        try (RecordedEvents events = new RecordedEvents();
                TestEndpoint a = new TestEndpoint(address);
                TestEndpoint b = new TestEndpoint(address)) {
            TestEndpoint.connect(a, b);
            RemoteMemory remote = b.region.remote();
            b.region.close();
            a.queuePair.postWrite(1, a.region, 0, 100, remote);
            assertThat(a.completion().status()).isEqualTo(CompletionStatus.REMOTE_ACCESS_ERROR);
            RecordedEvent requester = events.await(
                    "QueuePairError", each -> each.getString("queuePair").equals(number(a)));
            assertThat(requester.getString("status")).isEqualTo("REMOTE_ACCESS_ERROR");
            assertThat(requester.getString("explanation")).isEqualTo(CompletionStatus.REMOTE_ACCESS_ERROR.text());
            assertThat(requester.getString("peer")).isEqualTo(address.getHostAddress());
            assertThat(requester.getString("type")).isEqualTo("RELIABLE_CONNECTION");
            RecordedEvent responder = events.await(
                    "QueuePairError", each -> each.getString("queuePair").equals(number(b)));
            assertThat(responder.getString("status")).isEqualTo("ACCESS_ERROR");
        }
    }

    @Test
    void aRegistrationIsReportedWithItsLengthAndDuration() throws InterruptedException {
        try (RecordedEvents events = new RecordedEvents();
                TestEndpoint endpoint = new TestEndpoint(TestAddresses.loopback(), 123_456, 16)) {
            RecordedEvent event = events.await("MemoryRegistration", each -> each.getLong("length") == 123_456);
            assertThat(event.getDuration()).isPositive();
            assertThat(event.getString("access")).contains("REMOTE_WRITE");
            assertThat(event.getString("device"))
                    .isEqualTo(endpoint.context.device().name());
        }
    }

    @Test
    void aRecordingWithoutTheseEventsHasNone() throws IOException {
        Path file = folder.resolve("other.jfr");
        try (Recording recording = new Recording()) {
            recording.enable("jdk.ThreadStart");
            for (String name : List.of("ConnectionSetup", "DeviceCounters", "QueuePairCounters")) {
                recording.disable("rdma4j." + name);
            }
            for (Class<?> event : FlightEvents.all()) {
                recording.disable("rdma4j." + event.getSimpleName().replace("Event", ""));
            }
            recording.start();
            InetAddress address = TestAddresses.loopback();
            try (TestEndpoint a = new TestEndpoint(address);
                    TestEndpoint b = new TestEndpoint(address)) {
                TestEndpoint.connect(a, b);
                a.queuePair.postWrite(1, a.region, 0, 10_000, b.region.remote());
                assertThat(a.completion().isSuccess()).isTrue();
            }
            recording.stop();
            recording.dump(file);
        }
        assertThat(RecordingFile.readAllEvents(file))
                .extracting(event -> event.getEventType().getName())
                .noneMatch(name -> name.startsWith("rdma4j."));
    }

    @Test
    void aRuntimeWithoutFlightRecorderWorks() throws Exception {
        List<String> options = List.of("--limit-modules=java.base", "-Drdma4j.run.dir=" + folder.resolve("run"));
        try (ChildProcess process = new ChildProcess(NoRecorderProcess.class, options)) {
            assertThat(process.expect("flight recorder")).containsExactly("false");
            assertThat(process.expect("written")).containsExactly("10000");
        }
    }
}

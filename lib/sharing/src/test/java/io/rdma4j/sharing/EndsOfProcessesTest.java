package io.rdma4j.sharing;

import static org.assertj.core.api.Assertions.assertThat;

import io.rdma4j.link.Link;
import io.rdma4j.link.LinkSet;
import io.rdma4j.link.LocalChannel;
import io.rdma4j.link.SendBurst;
import io.rdma4j.link.host.GidAddresses;
import io.rdma4j.link.memory.MemoryNetwork;
import io.rdma4j.value.Gid;
import io.rdma4j.wire.Frame;
import io.rdma4j.wire.cm.AbandonedConnection;
import io.rdma4j.wire.cm.CmRoute;
import java.lang.foreign.Arena;
import java.net.InetAddress;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Random;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.FutureTask;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** The exit of a process is reported after everything that it sent. This test plays the role of the other processes. */
@Timeout(20)
class EndsOfProcessesTest {
    private static final InetAddress ADDRESS = InetAddress.ofLiteral("127.0.0.1");
    private static final ByteBuffer EMPTY = ByteBuffer.allocate(0);
    private static final int SLOT = 255; // never one of a real process

    @TempDir
    Path folder = Path.of("");

    private final MemoryNetwork network = new MemoryNetwork(9000);
    private final LinkSet others = network.newLinkSet();

    /** For each process that has exited: its slot, and how many packets were received before. */
    private final BlockingQueue<List<Long>> exits = new LinkedBlockingQueue<>();

    /** The crash disconnects of processes that have exited. */
    private final BlockingQueue<List<AbandonedConnection>> crashDisconnects = new LinkedBlockingQueue<>();

    private final List<TestEngine> opened = new ArrayList<>();
    private @Nullable Sharing sharing;

    private TestEngine engine() throws SharingException {
        TestEngine engine = new TestEngine(network.newLinkSet());
        Sharing created = new Sharing(directory(), new Random(1));
        created.exitHandler(new ProcessExitHandler() {
            @Override
            public void onProcessExited(HostPort port, int slot) {
                exits.add(List.of((long) slot, engine.receivedFrames));
            }

            @Override
            public void onCrashDisconnects(HostPort port, List<AbandonedConnection> connections) {
                crashDisconnects.add(connections);
            }
        });
        sharing = created;
        opened.add(engine);
        return engine;
    }

    @AfterEach
    void close() {
        opened.forEach(TestEngine::close);
        if (sharing != null) {
            sharing.close();
        }
    }

    private HostPort open(TestEngine engine) throws Exception {
        return engine.open(Objects.requireNonNull(sharing), ADDRESS);
    }

    private RunDirectory directory() throws SharingException {
        return RunDirectory.at(folder.resolve("run"));
    }

    private Path socket() throws SharingException {
        return directory().fileOfNamespace(RunDirectory.socketName(ADDRESS));
    }

    private static void send(LocalChannel channel, int... bytes) {
        ByteBuffer message = ByteBuffer.allocate(bytes.length);
        for (int each : bytes) {
            message.put((byte) each);
        }
        assertThat(channel.send(message.flip(), EMPTY)).isTrue();
    }

    /** Waits for a message, and returns its kind. */
    private static int receiveKind(LocalChannel channel) throws InterruptedException {
        ByteBuffer message = receive(channel);
        return message.get(message.position());
    }

    private static ByteBuffer receive(LocalChannel channel) throws InterruptedException {
        ByteBuffer message = channel.poll();
        while (message == null) {
            Thread.sleep(1);
            message = channel.poll();
        }
        return message;
    }

    /** Returns a connection of a process. */
    private static AbandonedConnection connection(int slot, int number) {
        CmRoute route = new CmRoute(Gid.of(ADDRESS), new Gid(0, number), 0);
        return new AbandonedConnection(
                route, 3, slot << 24 | number, 0x0a_0000 | number, 7 * number, 0x0b_0000 | number);
    }

    /** Creates the file of a process whose role this test plays. */
    private CrashDisconnectTable table(int slot) throws SharingException {
        return CrashDisconnectTable.create(directory(), slot);
    }

    private LocalChannel joined(int slot) throws Exception {
        LocalChannel channel = others.connectLocal(socket());
        send(channel, RelayMessage.HELLO, RelayMessage.VERSION, slot, 0xc1, 0x01);
        while (receiveKind(channel) != RelayMessage.WELCOME) {
            // The owner announces the other processes before.
        }
        return channel;
    }

    @Test
    void ownerReportsTheConnectionsOfAnExitedProcessAfterItsExit() throws Exception {
        TestEngine owner = engine();
        open(owner);
        CrashDisconnectTable table = table(SLOT);
        LocalChannel ending = joined(SLOT);
        table.add(connection(SLOT, 1));
        table.add(connection(SLOT, 2));
        table.remove(connection(SLOT, 1).localId());
        ending.close();
        assertThat(crashDisconnects.poll(10, TimeUnit.SECONDS)).containsExactly(connection(SLOT, 2));
        assertThat(exits.poll()).as("the exit is reported first").isNotNull();
    }

    @Test
    void connectionsAtOtherAddressesAreLeftToOtherProcesses() throws Exception {
        TestEngine owner = engine();
        open(owner);
        CrashDisconnectTable table = table(SLOT);
        LocalChannel ending = joined(SLOT);
        AbandonedConnection other =
                new AbandonedConnection(new CmRoute(new Gid(0, 1), new Gid(0, 2), 0), 0, SLOT << 24 | 9, 1, 1, 1);
        table.add(other);
        CrashDisconnectReader reader = CrashDisconnectReader.open(directory(), SLOT);
        ending.close();
        assertThat(exits.poll(10, TimeUnit.SECONDS)).isNotNull();
        owner.lock(); // wait for the rest of the processing of the exit
        owner.unlock();
        assertThat(crashDisconnects).isEmpty();
        assertThat(reader.take(_ -> true)).containsExactly(other);
    }

    @Test
    void processThatGotTheSlotOfAnExitedOneKeepsItsConnections() throws Exception {
        TestEngine owner = engine();
        open(owner);
        table(SLOT).add(connection(SLOT, 1));
        LocalChannel ending = joined(SLOT);
        table(SLOT).add(connection(SLOT, 2));
        ending.close();
        assertThat(crashDisconnects.poll(10, TimeUnit.SECONDS)).containsExactly(connection(SLOT, 1));
        assertThat(crashDisconnects).isEmpty();
    }

    @Test
    void memberReportsTheConnectionsOfAnExitedOwner() throws Exception {
        Joined member = new Joined();
        member.ownersTable.add(connection(SLOT - 1, 1));
        member.channel.close();
        assertThat(crashDisconnects.poll(10, TimeUnit.SECONDS)).containsExactly(connection(SLOT - 1, 1));
    }

    @Test
    void processThatExitsTogetherWithTheOwnerIsReportedByTheNextOwner() throws Exception {
        Joined member = new Joined();
        table(SLOT - 2).add(connection(SLOT - 2, 1));
        send(member.channel, RelayMessage.SIBLING, SLOT - 2, 0xc1, 0x02);
        member.listener.close();
        member.port.close();
        member.channel.close();
        assertThat(Objects.requireNonNull(exits.poll(10, TimeUnit.SECONDS)).getFirst())
                .isEqualTo(SLOT - 1);
        assertThat(Objects.requireNonNull(exits.poll(10, TimeUnit.SECONDS)).getFirst())
                .isEqualTo(SLOT - 2);
        assertThat(crashDisconnects.poll(10, TimeUnit.SECONDS)).containsExactly(connection(SLOT - 2, 1));
    }

    @Test
    void ownerThatSendsUnknownMessagesIsNotReportedAsExited() throws Exception {
        Joined member = new Joined();
        member.ownersTable.add(connection(SLOT - 1, 1));
        send(member.channel, 99);
        assertThat(exits.poll(10, TimeUnit.SECONDS)).isNotNull();
        member.engine.lock(); // wait for the rest of the processing of the exit
        member.engine.unlock();
        assertThat(crashDisconnects).isEmpty();
    }

    private static void send(Link link, int port, int frames) {
        try (Arena arena = Arena.ofConfined()) {
            SendBurst burst = new SendBurst(arena, SendBurst.MAX_FRAME_BYTES);
            for (int i = 0; i < frames; i++) {
                burst.clear();
                burst.destination(GidAddresses.high(ADDRESS), GidAddresses.low(ADDRESS), 0, 0);
                burst.destinationPort(port);
                burst.append(64);
                link.send(burst);
            }
        }
    }

    @Test
    void ownerReceivesEverythingAProcessSentBeforeItReportsTheExit() throws Exception {
        TestEngine owner = engine();
        open(owner);
        LocalChannel listening = others.connectLocal(socket());
        send(listening, RelayMessage.HELLO, RelayMessage.VERSION, SLOT - 1, 0xc1, 0x01);
        assertThat(receiveKind(listening)).isEqualTo(RelayMessage.WELCOME);
        LocalChannel ending = others.connectLocal(socket());
        send(ending, RelayMessage.HELLO, RelayMessage.VERSION, SLOT, 0xc1, 0x02);
        assertThat(receiveKind(ending)).isEqualTo(RelayMessage.SIBLING);
        assertThat(receiveKind(ending)).isEqualTo(RelayMessage.WELCOME);
        owner.lock();
        send(others.openUdp(ADDRESS, 0), Frame.UDP_PORT, 400);
        ending.close();
        owner.unlock();
        assertThat(exits.poll(10, TimeUnit.SECONDS)).isEqualTo(List.of((long) SLOT, 400L));
        assertThat(receiveKind(listening)).isEqualTo(RelayMessage.SIBLING);
        assertThat(receiveKind(listening)).isEqualTo(RelayMessage.EXITED);
    }

    @Test
    void processOfAnotherVersionIsRefusedWithTheReason() throws Exception {
        open(engine());
        LocalChannel newer = others.connectLocal(socket());
        send(newer, RelayMessage.HELLO, RelayMessage.VERSION + 1, SLOT, 0xc1, 0x01, 0, 0);
        ByteBuffer answer = receive(newer);
        assertThat(answer)
                .isEqualTo(ByteBuffer.wrap(
                        new byte[] {RelayMessage.REFUSED, RelayMessage.OTHER_VERSION, RelayMessage.VERSION}));
        await(() -> newer.poll() == null && newer.isClosed());
        assertThat(exits).as("it was no process of this address").isEmpty();
    }

    private FutureTask<HostPort> opening(TestEngine engine) {
        FutureTask<HostPort> opening = new FutureTask<>(() -> open(engine));
        Thread.ofVirtual().start(opening);
        return opening;
    }

    /** Opens the port of a process whose owner, played by this test, answers each attempt to join. */
    private SharingException failureWithOwner(int... answer) throws Exception {
        others.openUdp(ADDRESS, Frame.UDP_PORT);
        TestEngine engine = engine();
        LinkSet.LocalListener listener = others.listenLocal(socket());
        FutureTask<HostPort> opening = opening(engine);
        while (!opening.isDone()) {
            LocalChannel accepted = listener.accept();
            if (accepted != null && answer.length > 0) {
                send(accepted, answer);
            }
            if (accepted != null) {
                accepted.close();
            }
            Thread.sleep(1);
        }
        return (SharingException) opening.exceptionNow();
    }

    @Test
    void processWhoseOwnerHasAnotherVersionFailsImmediatelyWithBothVersions() throws Exception {
        long start = System.nanoTime();
        SharingException refusal = failureWithOwner(RelayMessage.REFUSED, RelayMessage.OTHER_VERSION, 9);
        assertThat(refusal.reason()).isEqualTo(SharingException.Reason.IN_USE);
        assertThat(refusal.details()).contains("version 9", "version " + RelayMessage.VERSION);
        assertThat(System.nanoTime() - start)
                .as("it does not wait for the timeout")
                .isLessThan(4_000_000_000L);
    }

    @Test
    void ownerThatEndsEachChannelWithoutAReasonIsReportedAsAnotherVersion() throws Exception {
        SharingException refusal = failureWithOwner();
        assertThat(refusal.reason()).isEqualTo(SharingException.Reason.IN_USE);
        assertThat(refusal.details()).contains("another version");
    }

    @Test
    void exitIsReportedToAMemberThatDoesNotReadAndWhoseChannelIsFull() throws Exception {
        TestEngine owner = engine();
        HostPort port = open(owner);
        LocalChannel stopped = joined(SLOT - 1);
        LocalChannel ending = joined(SLOT);
        fill(owner, port, SLOT - 1);
        ending.close();
        assertThat(exits.poll(10, TimeUnit.SECONDS)).isNotNull();
        int kind = receiveKind(stopped);
        while (kind == RelayMessage.SIBLING || kind == RelayMessage.FRAME) {
            kind = receiveKind(stopped);
        }
        assertThat(kind).isEqualTo(RelayMessage.EXITED);
    }

    @Test
    void processThatJoinsIsWelcomeAlthoughTheChannelsOfOthersAreFull() throws Exception {
        TestEngine owner = engine();
        HostPort port = open(owner);
        LocalChannel stopped = joined(SLOT - 1);
        fill(owner, port, SLOT - 1);
        joined(SLOT);
        int kind = receiveKind(stopped);
        while (kind == RelayMessage.FRAME) {
            kind = receiveKind(stopped);
        }
        assertThat(kind).as("it learns of the new process when it continues").isEqualTo(RelayMessage.SIBLING);
    }

    /** Relays frames to a member until some are dropped, as any host can make the owner do. */
    private static void fill(TestEngine owner, HostPort port, int slot) {
        Frame frame = new Frame();
        frame.buffer = ByteBuffer.allocate(4096);
        frame.length = 4096;
        while (port.counters().relayDrops == 0) {
            assertThat(relays(owner, port, slot, frame)).isTrue();
        }
        // The longest frame that fits leaves no room.
        long drops = port.counters().relayDrops - 1;
        while (port.counters().relayDrops > drops) {
            drops = port.counters().relayDrops;
            frame.length--;
            assertThat(relays(owner, port, slot, frame)).isTrue();
        }
    }

    @Test
    void memberThatSendsHelloTwiceIsExpelledAndLeavesNoSlot() throws Exception {
        TestEngine owner = engine();
        HostPort port = open(owner);
        LocalChannel twice = others.connectLocal(socket());
        send(twice, RelayMessage.HELLO, RelayMessage.VERSION, SLOT - 1, 0xc1, 0x01);
        assertThat(receiveKind(twice)).isEqualTo(RelayMessage.WELCOME);
        send(twice, RelayMessage.HELLO, RelayMessage.VERSION, SLOT, 0xc1, 0x01);
        while (!twice.isClosed()) {
            Thread.sleep(1);
        }
        Frame frame = new Frame();
        frame.buffer = ByteBuffer.allocate(64);
        frame.length = 64;
        while (relays(owner, port, SLOT - 1, frame) || relays(owner, port, SLOT, frame)) {
            Thread.sleep(1); // the exit is processed in a later duty cycle
        }
    }

    private static boolean relays(TestEngine engine, HostPort port, int slot, Frame frame) {
        engine.lock();
        try {
            return port.relay(slot, frame);
        } finally {
            engine.unlock();
        }
    }

    /** A process that has joined the owner, which is played by this test. */
    private final class Joined {
        final TestEngine engine;
        final Link port;
        final LinkSet.LocalListener listener;
        final LocalChannel channel;
        final CrashDisconnectTable ownersTable;
        final int udpPort;

        Joined() throws Exception {
            port = others.openUdp(ADDRESS, Frame.UDP_PORT);
            engine = engine();
            ownersTable = table(SLOT - 1); // the stack has removed the files of slots that are free
            listener = others.listenLocal(socket());
            FutureTask<HostPort> opening = opening(engine);
            LocalChannel accepted = listener.accept();
            while (accepted == null) {
                Thread.sleep(1);
                accepted = listener.accept();
            }
            channel = accepted;
            ByteBuffer hello = channel.poll();
            while (hello == null) {
                Thread.sleep(1);
                hello = channel.poll();
            }
            assertThat(hello.get(hello.position())).isEqualTo(RelayMessage.HELLO);
            udpPort = hello.getShort(hello.position() + 3) & 0xffff;
            send(channel, RelayMessage.WELCOME, RelayMessage.VERSION, SLOT - 1);
            assertThat(opening.get(10, TimeUnit.SECONDS).isConnected()).isTrue();
        }

        void relay(int frames) {
            int[] frame = new int[RelayMessage.FRAME_HEADER_BYTES + 64];
            frame[0] = RelayMessage.FRAME;
            for (int i = 0; i < frames; i++) {
                send(channel, frame);
            }
        }
    }

    @Test
    void memberReceivesAllRelayedFramesBeforeItReportsAnExit() throws Exception {
        Joined member = new Joined();
        member.engine.lock();
        member.relay(100);
        send(member.channel, RelayMessage.EXITED, SLOT);
        member.relay(1);
        member.channel.close();
        member.engine.unlock();
        assertThat(exits.poll(10, TimeUnit.SECONDS)).isEqualTo(List.of((long) SLOT, 100L));
        assertThat(exits.poll(10, TimeUnit.SECONDS)).isEqualTo(List.of((long) SLOT - 1, 101L));
    }

    @Test
    void memberReceivesAllDirectFramesBeforeItReportsAnExit() throws Exception {
        Joined member = new Joined();
        Link sibling = others.openUdp(ADDRESS, 0);
        member.engine.lock();
        send(sibling, member.udpPort, 300);
        send(member.channel, RelayMessage.EXITED, SLOT);
        send(member.channel, RelayMessage.EXITED, SLOT - 2);
        member.engine.unlock();
        assertThat(exits.poll(10, TimeUnit.SECONDS)).isEqualTo(List.of((long) SLOT, 300L));
        assertThat(exits.poll(10, TimeUnit.SECONDS)).isEqualTo(List.of((long) SLOT - 2, 300L));
        member.engine.lock();
        send(sibling, member.udpPort, 300);
        member.channel.close();
        member.engine.unlock();
        assertThat(exits.poll(10, TimeUnit.SECONDS)).isEqualTo(List.of((long) SLOT - 1, 600L));
    }

    @Test
    void memberDropsFramesOfOtherAddressesAtItsSendingPort() throws Exception {
        Joined member = new Joined();
        TestEngine engine = member.engine;
        send(others.openUdp(InetAddress.ofLiteral("127.0.0.9"), 0), member.udpPort, 5);
        await(() -> engine.emptyFrames == 5);
        send(others.openUdp(ADDRESS, 0), member.udpPort, 7);
        await(() -> engine.receivedFrames == 12);
        assertThat(engine.emptyFrames).isEqualTo(5);
    }

    private static void await(BooleanSupplier done) throws InterruptedException {
        while (!done.getAsBoolean()) {
            Thread.sleep(1);
        }
    }
}

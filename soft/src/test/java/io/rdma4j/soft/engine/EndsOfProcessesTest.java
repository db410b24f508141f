package io.rdma4j.soft.engine;

import static org.assertj.core.api.Assertions.assertThat;

import io.rdma4j.link.Link;
import io.rdma4j.link.LinkDecorator;
import io.rdma4j.link.LinkOptions;
import io.rdma4j.link.LinkSet;
import io.rdma4j.link.LocalChannel;
import io.rdma4j.link.MemoryNetwork;
import io.rdma4j.link.SendBurst;
import io.rdma4j.soft.host.HostNetwork;
import io.rdma4j.soft.host.StackClock;
import io.rdma4j.soft.share.RunDirectory;
import io.rdma4j.wire.Frame;
import io.rdma4j.wire.Packet;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.net.InetAddress;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.security.SecureRandom;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** The news that a process has ended comes after all that it had sent. This test plays the other processes. */
@Timeout(20)
class EndsOfProcessesTest {
    private static final InetAddress ADDRESS = InetAddress.ofLiteral("127.0.0.1");
    private static final ByteBuffer EMPTY = ByteBuffer.allocate(0);
    private static final int SLOT = 255; // never one of a real process

    @TempDir
    Path folder = Path.of("");

    private final MemoryNetwork network = new MemoryNetwork(9000);
    private final LinkSet others = network.newLinkSet();

    /** For each process that has ended its slot, and how many packets were received before. */
    private final BlockingQueue<List<Long>> ends = new LinkedBlockingQueue<>();

    /** What processes that have ended have left. */
    private final BlockingQueue<List<CrashDisconnect>> crashDisconnects = new LinkedBlockingQueue<>();

    private Engine engine() throws IOException {
        LinkDecorator plain = new LinkDecorator(LinkOptions.NONE, System::nanoTime, () -> 0, _ -> {});
        Sharing sharing = new Sharing(RunDirectory.at(folder.resolve("run")), HostNetwork.SYSTEM, new Random(1));
        Engine engine =
                new Engines(2, network::newLinkSet, plain, sharing, StackClock.SYSTEM, null, new SecureRandom()).main();
        engine.lock();
        engine.gsiHandler(new GsiHandler() {
            @Override
            public void onGsiPacket(long nowNanos, Port port, Packet packet) {}

            @Override
            public void onProcessGone(Port port, int slot) {
                ends.add(List.of((long) slot, engine.counters().receivedPackets));
            }

            @Override
            public void onLastWills(Port port, List<CrashDisconnect> left) {
                crashDisconnects.add(left);
            }
        });
        engine.unlock();
        return engine;
    }

    private Path socket() {
        return folder.resolve("run").resolve(GidAddresses.fileName(ADDRESS) + ".sock");
    }

    private static void tell(LocalChannel channel, int... bytes) {
        ByteBuffer message = ByteBuffer.allocate(bytes.length);
        for (int each : bytes) {
            message.put((byte) each);
        }
        assertThat(channel.send(message.flip(), EMPTY)).isTrue();
    }

    /** Waits for a message, and returns its kind. */
    private static int hear(LocalChannel channel) throws InterruptedException {
        ByteBuffer message = hearWhole(channel);
        return message.get(message.position());
    }

    private static ByteBuffer hearWhole(LocalChannel channel) throws InterruptedException {
        ByteBuffer message = channel.poll();
        while (message == null) {
            Thread.sleep(1);
            message = channel.poll();
        }
        return message;
    }

    /** The will of a connection of a process. */
    private static CrashDisconnect crashDisconnect(int slot, int number) {
        return new CrashDisconnect(
                slot << 24 | number, 0x0a_0000 | number, 7 * number, 0x0b_0000 | number, 3, 0xfe80L << 48, number);
    }

    /** Tells wills, and takes others back. */
    private static void tellWills(LocalChannel channel, List<CrashDisconnect> left, int... takenBack) {
        ByteBuffer message = ByteBuffer.allocate(LocalChannel.MAX_MESSAGE_BYTES);
        RelayMessage.beginWills(message, left.size() + takenBack.length);
        for (int i = 0; i < left.size(); i++) {
            RelayMessage.putWill(message, i, left.get(i).localId(), left.get(i));
        }
        for (int i = 0; i < takenBack.length; i++) {
            RelayMessage.putWill(message, left.size() + i, takenBack[i], null);
        }
        assertThat(channel.send(message, EMPTY)).isTrue();
    }

    /** The wills that a process tells, until there are so many; one that it takes back is null. */
    private static Map<Integer, @Nullable CrashDisconnect> hearWills(LocalChannel channel, int count)
            throws InterruptedException {
        Map<Integer, @Nullable CrashDisconnect> heard = new LinkedHashMap<>();
        while (heard.size() < count) {
            ByteBuffer message = hearWhole(channel);
            assertThat(message.get(message.position())).isEqualTo(RelayMessage.WILLS);
            for (int at = message.position() + RelayMessage.WILLS_AT;
                    at < message.limit();
                    at += RelayMessage.WILL_BYTES) {
                CrashDisconnect crashDisconnect = RelayMessage.crashDisconnect(message, at);
                assertThat(heard).doesNotContainKey(crashDisconnect.localId());
                heard.put(crashDisconnect.localId(), crashDisconnect.remoteId() == 0 ? null : crashDisconnect);
            }
        }
        return heard;
    }

    private LocalChannel joined(int slot) throws Exception {
        LocalChannel channel = others.connectLocal(socket());
        tell(channel, RelayMessage.HELLO, RelayMessage.VERSION, slot, 0xc1, 0x01);
        while (hear(channel) != RelayMessage.WELCOME) {
            // Others are introduced before.
        }
        return channel;
    }

    @Test
    void ownerIsLeftTheWillsOfAProcessThatEndsButForThoseTakenBack() throws Exception {
        Engine owner = engine();
        owner.openPort(ADDRESS);
        LocalChannel ending = joined(SLOT);
        List<CrashDisconnect> left =
                List.of(crashDisconnect(SLOT, 1), crashDisconnect(SLOT, 2), crashDisconnect(SLOT, 3));
        tellWills(ending, left);
        CrashDisconnect changed = new CrashDisconnect(left.get(2).localId(), 9, 9, 9, 0, 0, 9);
        tellWills(ending, List.of(changed), left.getFirst().localId(), 0xff00_0099);
        ending.close();
        assertThat(crashDisconnects.poll(10, TimeUnit.SECONDS)).containsExactly(left.get(1), changed);
        assertThat(ends.poll()).as("the news of the end comes first").isNotNull();
    }

    @Test
    void whoWillsForAnotherProcessIsThrownOutAndLeavesNothing() throws Exception {
        Engine owner = engine();
        owner.openPort(ADDRESS);
        LocalChannel forger = joined(SLOT);
        LocalChannel other = joined(SLOT - 1);
        tellWills(forger, List.of(crashDisconnect(SLOT, 1), crashDisconnect(SLOT - 1, 1)));
        while (!forger.isClosed()) {
            Thread.sleep(1);
        }
        tellWills(other, List.of(crashDisconnect(SLOT - 1, 5)));
        other.close();
        assertThat(crashDisconnects.poll(10, TimeUnit.SECONDS)).containsExactly(crashDisconnect(SLOT - 1, 5));
        assertThat(crashDisconnects).isEmpty();
    }

    @Test
    void willsBeforeTheGreetingAndInPartAreRefused() throws Exception {
        Engine owner = engine();
        owner.openPort(ADDRESS);
        LocalChannel early = others.connectLocal(socket());
        tellWills(early, List.of(crashDisconnect(0, 1)));
        LocalChannel partial = joined(SLOT);
        tell(partial, RelayMessage.WILLS, 0, 0, 0, SLOT, 1);
        while (!early.isClosed() || !partial.isClosed()) {
            Thread.sleep(1);
        }
    }

    @Test
    void processKeepsNoMoreWillsThanItHasQueuePairNumbers() {
        CrashDisconnectStore keeper = new CrashDisconnectStore();
        ByteBuffer message = ByteBuffer.allocate(LocalChannel.MAX_MESSAGE_BYTES);
        for (int number = 1; number <= CrashDisconnectStore.MOST + 10; number++) {
            RelayMessage.beginWills(message, 1);
            RelayMessage.putWill(message, 0, SLOT << 24 | number, crashDisconnect(SLOT, number));
            assertThat(keeper.take(message, SLOT)).isTrue();
        }
        assertThat(keeper.open()).hasSize(CrashDisconnectStore.MOST);
        assertThat(keeper.open()).isEmpty();
    }

    @Test
    void memberTellsItsWillsTogetherAndNothingOfWhatIsOver() throws Exception {
        Joined member = new Joined();
        SharedPort port = (SharedPort) member.engine.openPort(ADDRESS);
        member.engine.lock();
        for (int number = 1; number <= 600; number++) {
            port.addWill(crashDisconnect(SLOT - 2, number));
        }
        port.removeWill(crashDisconnect(SLOT - 2, 300).localId());
        member.engine.unlock();
        assertThat(hearWills(member.channel, 599).values())
                .doesNotContain(crashDisconnect(SLOT - 2, 300), (CrashDisconnect) null)
                .contains(crashDisconnect(SLOT - 2, 1), crashDisconnect(SLOT - 2, 600));

        member.engine.lock();
        port.removeWill(crashDisconnect(SLOT - 2, 1).localId());
        port.addWill(crashDisconnect(SLOT - 2, 300));
        port.removeWill(crashDisconnect(SLOT - 2, 300).localId());
        port.tellWills();
        member.engine.unlock();
        Map<Integer, @Nullable CrashDisconnect> heard = hearWills(member.channel, 1);
        assertThat(heard).containsOnlyKeys(crashDisconnect(SLOT - 2, 1).localId());
        assertThat(heard.values()).containsOnlyNulls();
    }

    @Test
    void willOfAConnectionThatIsOverIsTakenBackThoughNothingElseIsTold() throws Exception {
        Joined member = new Joined();
        SharedPort port = (SharedPort) member.engine.openPort(ADDRESS);
        CrashDisconnect crashDisconnect = crashDisconnect(SLOT - 2, 1);
        member.engine.lock();
        port.addWill(crashDisconnect);
        member.engine.unlock();
        assertThat(hearWills(member.channel, 1).values()).containsExactly(crashDisconnect);
        member.engine.lock();
        port.removeWill(crashDisconnect.localId());
        member.engine.unlock();
        assertThat(hearWills(member.channel, 1).values()).containsOnlyNulls();
    }

    @Test
    void ownersWillsAreKeptByOneMemberAfterTheOther() throws Exception {
        Engine owner = engine();
        SharedPort port = (SharedPort) owner.openPort(ADDRESS);
        owner.lock();
        port.addWill(crashDisconnect(owner.slot(), 1));
        owner.unlock();
        LocalChannel first = joined(SLOT);
        assertThat(hearWills(first, 1).values()).containsExactly(crashDisconnect(owner.slot(), 1));
        LocalChannel second = joined(SLOT - 1);
        first.close();
        assertThat(hear(second)).isEqualTo(RelayMessage.GONE);
        assertThat(hearWills(second, 1).values()).containsExactly(crashDisconnect(owner.slot(), 1));
    }

    @Test
    void memberIsLeftTheWillsOfAnOwnerThatEnds() throws Exception {
        Joined member = new Joined();
        tellWills(
                member.channel,
                List.of(crashDisconnect(SLOT - 1, 1), crashDisconnect(SLOT - 1, 2)),
                crashDisconnect(SLOT - 1, 2).localId());
        member.channel.close();
        assertThat(crashDisconnects.poll(10, TimeUnit.SECONDS)).containsExactly(crashDisconnect(SLOT - 1, 1));
    }

    @Test
    void ownerThatIsNotUnderstoodIsNotTakenForDead() throws Exception {
        Joined member = new Joined();
        tellWills(member.channel, List.of(crashDisconnect(SLOT - 1, 1)));
        tell(member.channel, 99);
        assertThat(ends.poll(10, TimeUnit.SECONDS)).isNotNull();
        member.engine.lock(); // what follows the news of the end
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
    void ownerTakesAllThatAProcessHasSentBeforeItTellsItsEnd() throws Exception {
        Engine owner = engine();
        owner.openPort(ADDRESS);
        LocalChannel listening = others.connectLocal(socket());
        tell(listening, RelayMessage.HELLO, RelayMessage.VERSION, SLOT - 1, 0xc1, 0x01);
        assertThat(hear(listening)).isEqualTo(RelayMessage.WELCOME);
        LocalChannel ending = others.connectLocal(socket());
        tell(ending, RelayMessage.HELLO, RelayMessage.VERSION, SLOT, 0xc1, 0x02);
        assertThat(hear(ending)).isEqualTo(RelayMessage.NEIGHBOUR);
        assertThat(hear(ending)).isEqualTo(RelayMessage.WELCOME);
        owner.lock();
        send(others.openUdp(ADDRESS, 0), Frame.UDP_PORT, 400);
        ending.close();
        owner.unlock();
        assertThat(ends.poll(10, TimeUnit.SECONDS)).isEqualTo(List.of((long) SLOT, 400L));
        assertThat(hear(listening)).isEqualTo(RelayMessage.NEIGHBOUR);
        assertThat(hear(listening)).isEqualTo(RelayMessage.GONE);
    }

    @Test
    void whoGreetsTwiceIsThrownOutAndLeavesNoSlotBehind() throws Exception {
        Engine owner = engine();
        owner.openPort(ADDRESS);
        LocalChannel greedy = others.connectLocal(socket());
        tell(greedy, RelayMessage.HELLO, RelayMessage.VERSION, SLOT - 1, 0xc1, 0x01);
        assertThat(hear(greedy)).isEqualTo(RelayMessage.WELCOME);
        tell(greedy, RelayMessage.HELLO, RelayMessage.VERSION, SLOT, 0xc1, 0x01);
        while (!greedy.isClosed()) {
            Thread.sleep(1);
        }
        SharedPort port = (SharedPort) owner.openPort(ADDRESS);
        Frame frame = new Frame();
        frame.buffer = ByteBuffer.allocate(64);
        frame.length = 64;
        while (relays(owner, port, SLOT - 1, frame) || relays(owner, port, SLOT, frame)) {
            Thread.sleep(1); // that it has gone is seen at the next look
        }
    }

    private static boolean relays(Engine engine, SharedPort port, int slot, Frame frame) {
        engine.lock();
        try {
            return port.relay(slot, frame);
        } finally {
            engine.unlock();
        }
    }

    /** A process that has joined the owner that this test plays. */
    private final class Joined {
        final Engine engine;
        final LocalChannel channel;
        final int udpPort;

        Joined() throws Exception {
            others.openUdp(ADDRESS, Frame.UDP_PORT);
            engine = engine();
            LinkSet.LocalListener listener = others.listenLocal(socket());
            CompletableFuture<SharedPort> opened =
                    CompletableFuture.supplyAsync(() -> engine.sharing().openPort(engine, ADDRESS));
            LocalChannel fresh = listener.accept();
            while (fresh == null) {
                Thread.sleep(1);
                fresh = listener.accept();
            }
            channel = fresh;
            ByteBuffer hello = channel.poll();
            while (hello == null) {
                Thread.sleep(1);
                hello = channel.poll();
            }
            assertThat(hello.get(hello.position())).isEqualTo(RelayMessage.HELLO);
            udpPort = hello.getShort(hello.position() + 3) & 0xffff;
            tell(channel, RelayMessage.WELCOME, RelayMessage.VERSION, SLOT - 1);
            assertThat(opened.get(10, TimeUnit.SECONDS).isConnected()).isTrue();
        }

        void passOn(int frames) {
            int[] frame = new int[RelayMessage.FRAME_HEADER_BYTES + 64];
            frame[0] = RelayMessage.FRAME;
            for (int i = 0; i < frames; i++) {
                tell(channel, frame);
            }
        }
    }

    @Test
    void memberTakesAllThatTheOwnerPassedOnBeforeTheNewsOfAnEnd() throws Exception {
        Joined member = new Joined();
        member.engine.lock();
        member.passOn(100);
        tell(member.channel, RelayMessage.GONE, SLOT);
        member.passOn(1);
        member.channel.close();
        member.engine.unlock();
        assertThat(ends.poll(10, TimeUnit.SECONDS)).isEqualTo(List.of((long) SLOT, 100L));
        assertThat(ends.poll(10, TimeUnit.SECONDS)).isEqualTo(List.of((long) SLOT - 1, 101L));
    }

    @Test
    void memberTakesAllThatCameStraightBeforeTheNewsOfAnEnd() throws Exception {
        Joined member = new Joined();
        Link neighbour = others.openUdp(ADDRESS, 0);
        member.engine.lock();
        send(neighbour, member.udpPort, 300);
        tell(member.channel, RelayMessage.GONE, SLOT);
        tell(member.channel, RelayMessage.GONE, SLOT - 2);
        member.engine.unlock();
        assertThat(ends.poll(10, TimeUnit.SECONDS)).isEqualTo(List.of((long) SLOT, 300L));
        assertThat(ends.poll(10, TimeUnit.SECONDS)).isEqualTo(List.of((long) SLOT - 2, 300L));
        member.engine.lock();
        send(neighbour, member.udpPort, 300);
        member.channel.close();
        member.engine.unlock();
        assertThat(ends.poll(10, TimeUnit.SECONDS)).isEqualTo(List.of((long) SLOT - 1, 600L));
    }

    @Test
    void memberHasNoEarForFramesOfOtherAddressesAtThePortThatItSendsFrom() throws Exception {
        Joined member = new Joined();
        EngineCounters counters = member.engine.counters();
        send(others.openUdp(InetAddress.ofLiteral("127.0.0.9"), 0), member.udpPort, 5);
        await(() -> counters.tooShort == 5);
        send(others.openUdp(ADDRESS, 0), member.udpPort, 7);
        await(() -> counters.receivedPackets == 12);
        assertThat(counters.tooShort).isEqualTo(5);
        assertThat(counters.dropped()).isEqualTo(12); // frames of zeros are for no queue pair
    }

    private static void await(BooleanSupplier done) throws InterruptedException {
        while (!done.getAsBoolean()) {
            Thread.sleep(1);
        }
    }
}

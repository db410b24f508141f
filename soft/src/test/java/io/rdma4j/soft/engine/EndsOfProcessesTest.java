package io.rdma4j.soft.engine;

import static org.assertj.core.api.Assertions.assertThat;

import io.rdma4j.link.Link;
import io.rdma4j.link.LinkDecorator;
import io.rdma4j.link.LinkOptions;
import io.rdma4j.link.LinkSet;
import io.rdma4j.link.LocalChannel;
import io.rdma4j.link.MemoryNetwork;
import io.rdma4j.link.SendBurst;
import io.rdma4j.soft.share.RunDirectory;
import io.rdma4j.wire.Frame;
import io.rdma4j.wire.Packet;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.net.InetAddress;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.List;
import java.util.Random;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;
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

    private Engine engine() throws IOException {
        LinkDecorator plain = new LinkDecorator(LinkOptions.NONE, System::nanoTime, () -> 0, _ -> {});
        Sharing sharing = new Sharing(RunDirectory.at(folder.resolve("run")), new Random(1));
        Engine engine = new Engines(2, network::newLinkSet, plain, sharing).main();
        engine.lock();
        engine.gsiHandler(new GsiHandler() {
            @Override
            public void onGsiPacket(long nowNanos, Port port, Packet packet) {}

            @Override
            public void onProcessGone(Port port, int slot) {
                ends.add(List.of((long) slot, engine.counters().receivedPackets));
            }
        });
        engine.unlock();
        return engine;
    }

    private Path socket() {
        return folder.resolve("run").resolve(Addresses.fileName(ADDRESS) + ".sock");
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
        ByteBuffer message = channel.poll();
        while (message == null) {
            Thread.sleep(1);
            message = channel.poll();
        }
        return message.get(message.position());
    }

    private static void send(Link link, int port, int frames) {
        try (Arena arena = Arena.ofConfined()) {
            SendBurst burst = new SendBurst(arena, SendBurst.MAX_FRAME_BYTES);
            for (int i = 0; i < frames; i++) {
                burst.clear();
                burst.destination(Addresses.high(ADDRESS), Addresses.low(ADDRESS), 0, 0);
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

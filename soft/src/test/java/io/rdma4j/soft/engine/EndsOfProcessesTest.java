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

    private static void send(Link link, int frames) {
        try (Arena arena = Arena.ofConfined()) {
            SendBurst burst = new SendBurst(arena, SendBurst.MAX_FRAME_BYTES);
            for (int i = 0; i < frames; i++) {
                burst.clear();
                burst.destination(Addresses.high(ADDRESS), Addresses.low(ADDRESS), 0, 0);
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
        tell(listening, RelayMessage.HELLO, RelayMessage.VERSION, SLOT - 1);
        assertThat(hear(listening)).isEqualTo(RelayMessage.WELCOME);
        LocalChannel ending = others.connectLocal(socket());
        tell(ending, RelayMessage.HELLO, RelayMessage.VERSION, SLOT);
        assertThat(hear(ending)).isEqualTo(RelayMessage.WELCOME);
        owner.lock();
        send(others.openUdp(ADDRESS, 0), 400);
        ending.close();
        owner.unlock();
        assertThat(ends.poll(10, TimeUnit.SECONDS)).isEqualTo(List.of((long) SLOT, 400L));
        assertThat(hear(listening)).isEqualTo(RelayMessage.GONE);
    }

    @Test
    void memberTakesAllThatTheOwnerPassedOnBeforeTheNewsOfAnEnd() throws Exception {
        others.openUdp(ADDRESS, Frame.UDP_PORT);
        Engine member = engine();
        LinkSet.LocalListener listener = others.listenLocal(socket());
        CompletableFuture<SharedPort> opened =
                CompletableFuture.supplyAsync(() -> member.sharing().openPort(member, ADDRESS));
        LocalChannel channel = listener.accept();
        while (channel == null) {
            Thread.sleep(1);
            channel = listener.accept();
        }
        assertThat(hear(channel)).isEqualTo(RelayMessage.HELLO);
        tell(channel, RelayMessage.WELCOME, RelayMessage.VERSION, SLOT - 1);
        assertThat(opened.get(10, TimeUnit.SECONDS).isConnected()).isTrue();
        member.lock();
        int[] frame = new int[RelayMessage.FRAME_HEADER_BYTES + 64];
        frame[0] = RelayMessage.FRAME;
        for (int i = 0; i < 100; i++) {
            tell(channel, frame);
        }
        tell(channel, RelayMessage.GONE, SLOT);
        tell(channel, frame);
        channel.close();
        member.unlock();
        assertThat(ends.poll(10, TimeUnit.SECONDS)).isEqualTo(List.of((long) SLOT, 100L));
        assertThat(ends.poll(10, TimeUnit.SECONDS)).isEqualTo(List.of((long) SLOT - 1, 101L));
    }
}

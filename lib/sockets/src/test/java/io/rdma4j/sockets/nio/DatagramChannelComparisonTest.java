package io.rdma4j.sockets.nio;

import static io.rdma4j.sockets.nio.ChannelPrograms.PATIENCE_MILLIS;
import static io.rdma4j.sockets.nio.ChannelPrograms.bytes;
import static io.rdma4j.sockets.nio.ChannelPrograms.text;
import static java.nio.channels.SelectionKey.OP_READ;
import static java.nio.channels.SelectionKey.OP_WRITE;
import static org.assertj.core.api.Assertions.assertThat;

import io.rdma4j.sockets.RdmaSockets;
import java.io.IOException;
import java.net.DatagramPacket;
import java.net.DatagramSocket;
import java.net.InetSocketAddress;
import java.net.SocketAddress;
import java.net.StandardProtocolFamily;
import java.net.StandardSocketOptions;
import java.nio.ByteBuffer;
import java.nio.channels.DatagramChannel;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.nio.channels.spi.SelectorProvider;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** Programs observe the same results with datagram channels and their sockets as with the platform's. */
@Timeout(60)
class DatagramChannelComparisonTest {
    private interface Opener {
        DatagramChannel open() throws IOException;
    }

    private interface Program {
        void run(DatagramChannel one, DatagramChannel other, ChannelPrograms.Log log) throws Exception;
    }

    private static final Map<String, Program> PROGRAMS = new LinkedHashMap<>();

    static {
        PROGRAMS.put("unconnected", (one, other, log) -> {
            SocketAddress to = other.getLocalAddress();
            ByteBuffer source = bytes(1, 2, 3).position(1);
            log.note("send", () -> one.send(source, to));
            log.note("source", text(source));
            ByteBuffer target = ByteBuffer.allocate(5).position(2);
            log.note("receive", () -> one.getLocalAddress().equals(other.receive(target)));
            log.note("target", text(target));
            log.note("send nothing", () -> one.send(bytes(), to));
            log.note("receive nothing", () -> one.getLocalAddress().equals(other.receive(target)));
            log.note("target", text(target));
            log.note("send more", () -> one.send(bytes(1, 2, 3), to));
            ByteBuffer small = ByteBuffer.allocate(2);
            log.note("receive less", () -> other.receive(small) != null);
            log.note("small", text(small));
            log.note("into none", () -> {
                one.send(bytes(4), to);
                return other.receive(ByteBuffer.allocate(0)) != null;
            });
            other.configureBlocking(false);
            log.note("none", () -> other.receive(ByteBuffer.allocate(2)));
            log.note("read", () -> other.read(ByteBuffer.allocate(2)));
            log.note("read several", () -> other.read(new ByteBuffer[] {ByteBuffer.allocate(2)}));
            log.note("write", () -> other.write(bytes(1)));
            log.note("write several", () -> other.write(new ByteBuffer[] {bytes(1)}));
            log.note("read-only", () -> other.receive(bytes(1).asReadOnlyBuffer()));
            log.note("null", () -> other.receive(null));
            log.note("send null", () -> other.send(null, to));
            log.note("send to null", () -> other.send(bytes(1), null));
            log.note(
                    "unresolved", () -> other.send(bytes(1), InetSocketAddress.createUnresolved("nowhere.invalid", 1)));
            log.note(
                    "connect unresolved",
                    () -> other.connect(InetSocketAddress.createUnresolved("nowhere.invalid", 1)));
            log.note("disconnect", () -> other.disconnect().isConnected());
            log.note("bind", () -> other.bind(null));
            log.note("remote", () -> other.getRemoteAddress());
            log.note("option null", () -> other.getOption(null));
            log.note("option value null", () -> other.setOption(StandardSocketOptions.SO_SNDBUF, null));
            log.note("no option", () -> other.getOption(StandardSocketOptions.TCP_NODELAY));
            log.note("set no option", () -> other.setOption(StandardSocketOptions.TCP_NODELAY, true));
            log.note("negative", () -> other.setOption(StandardSocketOptions.SO_SNDBUF, -1));
            log.note("tos", () -> other.setOption(StandardSocketOptions.IP_TOS, 300));
        });
        PROGRAMS.put("connected", (one, other, log) -> {
            SocketAddress to = other.getLocalAddress();
            one.connect(Objects.requireNonNull(to));
            other.connect(Objects.requireNonNull(one.getLocalAddress()));
            log.note("again", () -> one.connect(to));
            log.note("connected", one.isConnected());
            log.note("write", () -> one.write(bytes(1, 2)));
            ByteBuffer target = ByteBuffer.allocate(4);
            log.note("read", () -> other.read(target));
            ByteBuffer[] sources = {bytes(1), bytes(), bytes(2, 3).position(1)};
            log.note("gather", () -> one.write(sources));
            log.note("sources", text(sources));
            ByteBuffer[] targets = {ByteBuffer.allocate(1), ByteBuffer.allocate(0), ByteBuffer.allocate(4)};
            log.note("scatter", () -> other.read(targets));
            log.note("targets", text(targets));
            log.note("write nothing", () -> one.write(bytes()));
            log.note("gather nothing", () -> one.write(new ByteBuffer[] {bytes()}));
            log.note("no sources", () -> one.write(new ByteBuffer[0]));
            log.note("no targets", () -> other.read(new ByteBuffer[0]));
            log.note("read into none", () -> other.read(ByteBuffer.allocate(0)));
            log.note("null in sources", () -> one.write(new ByteBuffer[] {bytes(1), null}));
            log.note("null in targets", () -> one.read(new ByteBuffer[] {bytes(1), null}));
            log.note("bounds", () -> one.write(sources, 2, 2));
            log.note("send to another", () -> one.send(bytes(1), one.getLocalAddress()));
            log.note("send to the peer", () -> one.send(bytes(8), to));
            log.note("receive", () -> other.receive(target.clear()).equals(one.getLocalAddress()));
            other.configureBlocking(false);
            log.note("read none", () -> other.read(target));
            log.note("scatter none", () -> other.read(targets));
            other.configureBlocking(true);
            log.note("disconnect", () -> one.disconnect().isConnected());
            log.note("remote", () -> one.getRemoteAddress());
            log.note("read", () -> one.read(target));
            one.connect(to);
            one.close();
            log.note("connected", one.isConnected());
            log.note("read", () -> one.read(target));
            log.note("write", () -> one.write(bytes(1)));
            log.note("send", () -> one.send(bytes(1), to));
            log.note("receive", () -> one.receive(target));
            log.note("disconnect", () -> one.disconnect() == null);
            log.note("connect", () -> one.connect(to));
            log.note("local", () -> one.getLocalAddress());
            log.note("remote", () -> one.getRemoteAddress());
        });
        PROGRAMS.put("what others sent before connect", (one, other, log) -> {
            DatagramChannel third = other;
            third.send(bytes(7), Objects.requireNonNull(one.getLocalAddress()));
            one.configureBlocking(false);
            try (Selector selector = selectorOf(one)) {
                one.register(selector, OP_READ);
                log.note("select", () -> selector.select(PATIENCE_MILLIS));
                one.connect(new InetSocketAddress(((InetSocketAddress) one.getLocalAddress()).getAddress(), 9));
                log.note("receive", () -> one.receive(ByteBuffer.allocate(1)));
                selector.selectedKeys().clear();
                log.note("select", () -> selector.selectNow());
            }
        });
        PROGRAMS.put("selected", (one, other, log) -> {
            one.configureBlocking(false);
            other.configureBlocking(false);
            try (Selector selector = selectorOf(one)) {
                SelectionKey key = other.register(selector, OP_READ | OP_WRITE);
                log.note("writable", () -> selector.select(PATIENCE_MILLIS));
                log.note("ready", key.readyOps());
                key.interestOps(OP_READ);
                selector.selectedKeys().clear();
                log.note("none", () -> selector.selectNow());
                one.send(bytes(1), Objects.requireNonNull(other.getLocalAddress()));
                one.send(bytes(), Objects.requireNonNull(other.getLocalAddress()));
                log.note("readable", () -> selector.select(PATIENCE_MILLIS));
                log.note("ready", key.readyOps());
                log.note("receive", () -> other.receive(ByteBuffer.allocate(1)) != null);
                selector.selectedKeys().clear();
                log.note("empty one", () -> selector.select(PATIENCE_MILLIS));
                log.note("receive", () -> other.receive(ByteBuffer.allocate(1)) != null);
                selector.selectedKeys().clear();
                log.note("none", () -> selector.selectNow());
            }
        });
        PROGRAMS.put("sockets", (one, other, log) -> {
            DatagramSocket from = one.socket();
            DatagramSocket to = other.socket();
            SocketAddress there = Objects.requireNonNull(to.getLocalSocketAddress());
            log.run("send", () -> from.send(new DatagramPacket(new byte[] {1, 2, 3}, 1, 2, there)));
            DatagramPacket packet = new DatagramPacket(new byte[6], 2, 4);
            log.run("receive", () -> to.receive(packet));
            log.note("packet", packet.getLength() + " " + packet.getOffset() + Arrays.toString(packet.getData()));
            log.note("from", Objects.equals(packet.getSocketAddress(), from.getLocalSocketAddress()));
            log.run("send 4", () -> from.send(new DatagramPacket(new byte[] {1, 2, 3, 4}, 4, there)));
            log.run("receive again", () -> to.receive(packet));
            log.note("length", packet.getLength());
            log.run("send none", () -> from.send(new DatagramPacket(new byte[0], 0, there)));
            log.run("receive none", () -> to.receive(packet));
            log.note("length", packet.getLength());
            to.setSoTimeout(20);
            log.run("time-out", () -> to.receive(packet));
            log.run("no address", () -> from.send(new DatagramPacket(new byte[1], 1)));
            log.run("port 0", () -> from.send(new DatagramPacket(new byte[1], 1, to.getLocalAddress(), 0)));
            log.run("null", () -> from.send(null));
            log.run("null", () -> to.receive(null));
            log.run("connect", () -> from.connect(there));
            log.run("other address", () -> from.send(new DatagramPacket(new byte[1], 1, from.getLocalSocketAddress())));
            DatagramPacket unaddressed = new DatagramPacket(new byte[] {6}, 1);
            log.run("no address", () -> from.send(unaddressed));
            log.note("address", there.equals(unaddressed.getSocketAddress()));
            log.run("receive", () -> to.receive(packet));
            log.run("connect again", () -> from.connect(there));
            log.run("disconnect", from::disconnect);
            log.note("connected", from.isConnected() + " " + from.getPort() + " " + from.getInetAddress());
            one.configureBlocking(false);
            log.run("not blocking", () -> from.send(new DatagramPacket(new byte[1], 1, there)));
            log.run("not blocking", () -> from.receive(packet));
            one.configureBlocking(true);
            from.close();
            log.run("closed", () -> from.send(new DatagramPacket(new byte[1], 1, there)));
            log.run("closed", () -> from.receive(packet));
            log.run("closed", () -> from.connect(there));
            log.run("closed", from::disconnect);
            log.run("closed", () -> from.setSoTimeout(1));
            log.note("closed", from.isBound() + " " + from.isConnected() + " " + from.getLocalPort());
        });
    }

    private static Selector selectorOf(DatagramChannel channel) throws IOException {
        SelectorProvider provider = channel.provider();
        return provider.openSelector();
    }

    private static List<String> seen(String name, Opener opener) throws Exception {
        ChannelPrograms.Log log = new ChannelPrograms.Log();
        try (DatagramChannel one = opener.open();
                DatagramChannel other = opener.open()) {
            one.bind(new InetSocketAddress(Loopback.address(), 0));
            other.bind(new InetSocketAddress(Loopback.address(), 0));
            Objects.requireNonNull(PROGRAMS.get(name)).run(one, other, log);
        }
        return log.seen;
    }

    static List<String> programs() {
        return new ArrayList<>(PROGRAMS.keySet());
    }

    @ParameterizedTest
    @MethodSource("programs")
    void programObservesTheSameAsOnThePlatform(String name) throws Exception {
        assertThat(seen(name, () -> RdmaSockets.openDatagramChannel(StandardProtocolFamily.INET)))
                .isEqualTo(seen(name, () -> Platform.provider().openDatagramChannel(StandardProtocolFamily.INET)));
    }
}

package io.rdma4j.sharing;

import io.rdma4j.fuzz.Captures;
import io.rdma4j.fuzz.FuzzTarget;
import io.rdma4j.fuzz.Invariant;
import io.rdma4j.link.Link;
import io.rdma4j.link.LinkSet;
import io.rdma4j.link.LocalChannel;
import io.rdma4j.link.ReceiveBurst;
import io.rdma4j.link.decorator.LinkDecorator;
import io.rdma4j.link.decorator.LinkOptions;
import io.rdma4j.link.memory.MemoryNetwork;
import io.rdma4j.soft.engine.Engine;
import io.rdma4j.soft.engine.Engines;
import io.rdma4j.soft.engine.SharedPorts;
import io.rdma4j.soft.host.HostNetwork;
import io.rdma4j.soft.host.StackClock;
import io.rdma4j.wire.Frame;
import io.rdma4j.wire.Packet;
import java.io.IOException;
import java.net.InetAddress;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.SecureRandom;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Deque;
import java.util.List;
import java.util.Random;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * F9: messages between the processes of a host over the channels of a shared port. The first byte of the input selects
 * whether several processes send to the owner or the owner sends to one process. Steps of one byte and their arguments
 * follow.
 *
 * <p>No message to the owner is relayed to another process as a frame, or assigns a UDP port to a slot that the sender
 * does not hold. A message causes few responses, and a process that sends invalid messages is disconnected. Frames from
 * the owner have the length of their message, which is at most the maximum of a frame.
 *
 * <p>The engine with the port has threads and exists once per process. It is locked while an input runs. Two runs of
 * one input have the same effect.
 */
public final class RelayTarget implements FuzzTarget {
    private static final InetAddress ADDRESS = InetAddress.ofLiteral("127.0.0.1");
    private static final int CHANNELS = 4;
    private static final int MAX_MESSAGE_BYTES = 2048;
    private static final int BURST_FRAMES = 128;

    /** Each member has memory that only the garbage collector frees. */
    private static final int MEMBERS_BETWEEN_COLLECTIONS = 256;

    private static final List<Frame> FRAMES = Captures.frames().toList();

    /** The engine and its port, which exist once. */
    private static final class Fixture {
        private static final Fixture INSTANCE = new Fixture();

        private final Engine engine;
        private final HostPort port;
        private final Link sender;
        private int members;

        Fixture() {
            try {
                Path folder = Files.createTempDirectory("rdma4j-fuzz");
                folder.toFile().deleteOnExit();
                MemoryNetwork network = new MemoryNetwork(9000);
                LinkDecorator plain = new LinkDecorator(LinkOptions.NONE, System::nanoTime, () -> 0, _ -> {});
                Sharing sharing = new Sharing(RunDirectory.at(folder.resolve("run")), new Random(1));
                engine = new Engines(
                                1,
                                network::newLinkSet,
                                plain,
                                sharing.slot(),
                                StackClock.SYSTEM,
                                null,
                                new SecureRandom())
                        .main();
                port = new SharedPorts(engine, sharing, HostNetwork.SYSTEM).openHostPort(ADDRESS);
                sender = network.newLinkSet().openUdp(ADDRESS, 0);
            } catch (IOException | SharingException e) {
                throw new IllegalStateException(e);
            }
        }

        MemberLink member(LocalChannel channel) {
            if (++members % MEMBERS_BETWEEN_COLLECTIONS == 0) {
                System.gc();
            }
            return new MemberLink(port, channel, sender);
        }
    }

    /** A channel that supplies the messages of the input and records sent messages. */
    private static final class Wire implements LocalChannel {
        private final Deque<byte[]> input = new ArrayDeque<>();
        private final List<byte[]> sent = new ArrayList<>();
        private boolean isClosed;

        @Override
        public boolean send(ByteBuffer header, ByteBuffer body) {
            byte[] message = new byte[header.remaining() + body.remaining()];
            int first = header.remaining();
            header.duplicate().get(message, 0, first);
            body.duplicate().get(message, first, message.length - first);
            sent.add(message);
            return !isClosed;
        }

        @Override
        public void sendControl(Object subject, ByteBuffer message) {
            boolean _ = send(message, ByteBuffer.allocate(0));
        }

        @Override
        public boolean hasUnsentControl() {
            return false;
        }

        @Override
        public @Nullable ByteBuffer poll() {
            byte[] next = isClosed ? null : input.poll();
            return next == null ? null : ByteBuffer.wrap(next);
        }

        @Override
        public boolean isClosed() {
            return isClosed;
        }

        @Override
        public void close() {
            isClosed = true;
        }
    }

    private byte[] bytes = new byte[0];
    private int position;

    /** Creates the target. */
    public RelayTarget() {}

    private int u8() {
        return position < bytes.length ? bytes[position++] & 0xff : 0;
    }

    private byte[] message() {
        int length = Math.min(u8() << 8 | u8(), Math.min(bytes.length - position, MAX_MESSAGE_BYTES));
        byte[] result = Arrays.copyOfRange(bytes, position, position + Math.max(0, length));
        position += result.length;
        return result;
    }

    @Override
    public void run(byte[] input) {
        bytes = input;
        position = 0;
        Fixture fixture = Fixture.INSTANCE;
        fixture.engine.lock();
        try {
            forgetAll(fixture.port.siblings());
            if ((u8() & 1) == 0) {
                toOwner(fixture);
            } else {
                toMember(fixture);
            }
        } finally {
            forgetAll(fixture.port.siblings());
            fixture.engine.unlock();
        }
    }

    private static void forgetAll(AddressSiblings siblings) {
        for (int slot = 0; slot <= 0xff; slot++) {
            siblings.put(slot, 0);
        }
    }

    // ---- to the owner

    private void toOwner(Fixture fixture) {
        List<Wire> wires = Stream.generate(Wire::new).limit(CHANNELS).toList();
        Deque<Wire> unaccepted = new ArrayDeque<>(wires);
        MemberTable owner = new MemberTable(
                fixture.port.engine(),
                fixture.port,
                new LinkSet.LocalListener() {
                    @Override
                    public @Nullable LocalChannel accept() {
                        return unaccepted.poll();
                    }

                    @Override
                    public void close() {
                        unaccepted.clear();
                    }
                },
                Long.MIN_VALUE);
        int ownerSlot = fixture.engine.slot();
        int received = 0;
        int relayable = 0;
        while (position < bytes.length) {
            int step = u8();
            Wire wire = wires.get(step >> 3 & 3);
            switch (step & 7) {
                case 0 -> wire.close();
                case 1 -> relayable += owner.relay(slot(ownerSlot), frame()) ? 1 : 0;
                case 2 -> {
                    Packet packet = new Packet();
                    if (packet.parse(frame()) == Packet.Result.OK) {
                        boolean _ = owner.routeGsi(packet);
                        relayable += CHANNELS;
                    }
                }
                case 3 -> wire.input.add(hello(u8(), u8() << 8 | u8()));
                default -> wire.input.add(message());
            }
            int messages = wires.stream().mapToInt(each -> each.input.size()).sum();
            received += messages;
            int _ = owner.receive();
            int _ = owner.receive(); // the second call forgets disconnected processes
        }
        int sent = wires.stream().mapToInt(wire -> wire.sent.size()).sum();
        long frames = wires.stream()
                .flatMap(wire -> wire.sent.stream())
                .filter(message -> message[0] == RelayMessage.FRAME)
                .count();
        Invariant.holds(frames <= relayable, "the owner relays only frames that it received");
        // Each message has one response or introduces two of four processes to each other; each disconnect is announced
        // to all.
        Invariant.holds(
                sent - frames <= 2L * CHANNELS * received + (long) CHANNELS * CHANNELS,
                "one message causes few messages");
        wires.forEach(Wire::close);
        int _ = owner.receive();
        int _ = owner.receive();
        for (int slot = 0; slot < 256; slot++) {
            Invariant.holds(!owner.relay(slot, FRAMES.getFirst()), "a disconnected process is forgotten");
        }
    }

    private int slot(int ownerSlot) {
        int slot = u8();
        return slot == ownerSlot ? slot ^ 1 : slot;
    }

    private Frame frame() {
        return FRAMES.get((u8() << 8 | u8()) % FRAMES.size());
    }

    private static byte[] hello(int slot, int udpPort) {
        return new byte[] {RelayMessage.HELLO, RelayMessage.VERSION, (byte) slot, (byte) (udpPort >> 8), (byte) udpPort
        };
    }

    // ---- to a member

    private void toMember(Fixture fixture) {
        Wire wire = new Wire();
        MemberLink member = fixture.member(wire);
        ReceiveBurst burst = new ReceiveBurst(BURST_FRAMES);
        Deque<byte[]> expected = new ArrayDeque<>();
        while (position < bytes.length && !wire.isClosed) {
            int step = u8();
            byte[] message = (step & 1) == 0 ? message() : relayed(frame());
            wire.input.add(message);
            if (message.length >= RelayMessage.FRAME_HEADER_BYTES && message[0] == RelayMessage.FRAME) {
                expected.add(message);
            }
            if ((step & 2) != 0) {
                receiveAll(fixture, member, burst, expected);
            }
        }
        receiveAll(fixture, member, burst, expected);
        wire.close();
        receiveAll(fixture, member, burst, expected);
        Invariant.holds(wire.sent.size() == 1, "a member sends only its greeting");
    }

    private static byte[] relayed(Frame frame) {
        ByteBuffer message = ByteBuffer.allocate(RelayMessage.FRAME_HEADER_BYTES + frame.length);
        message.put(RelayMessage.FRAME).position(RelayMessage.FRAME_HEADER_BYTES);
        return message.put(Captures.payload(frame)).array();
    }

    private static void receiveAll(Fixture fixture, MemberLink member, ReceiveBurst burst, Deque<byte[]> expected) {
        member.preparePoll(fixture.engine.nowNanos(), true);
        while (member.poll(burst) > 0) {
            for (int i = 0; i < burst.count(); i++) {
                Frame frame = burst.frame(i);
                byte[] message = expected.remove();
                byte[] body = Arrays.copyOfRange(message, RelayMessage.FRAME_HEADER_BYTES, message.length);
                Invariant.holds(Arrays.equals(Captures.payload(frame), body), "a frame is received as it was relayed");
            }
            fixture.port.engine().receiver().onRelayedFrames(fixture.engine.nowNanos(), fixture.port, burst);
        }
    }

    // ---- seeds

    @Override
    public Stream<byte[]> seeds() {
        byte[] toOwner = {
            0,
            3,
            50,
            7,
            1,
            11,
            51,
            7,
            2,
            19,
            52,
            7,
            3, // three processes connect
            4,
            0,
            12,
            RelayMessage.LISTEN,
            0,
            0,
            0,
            0,
            0,
            0,
            0,
            1,
            6,
            0,
            9, // one listens
            1,
            50,
            0,
            5,
            1,
            51,
            0,
            80,
            2,
            0,
            0,
            2,
            0,
            9, // frames and management datagrams
            12,
            0,
            12,
            RelayMessage.UNLISTEN,
            0,
            0,
            0,
            0,
            0,
            0,
            0,
            1,
            6,
            0,
            9,
            0,
            20,
            0,
            1,
            77
        };
        byte[] toMember = {
            1,
            2,
            0,
            3,
            RelayMessage.WELCOME,
            RelayMessage.VERSION,
            60,
            3,
            0,
            9,
            3,
            1,
            9, //
            2,
            0,
            4,
            RelayMessage.SIBLING,
            61,
            7,
            1,
            2,
            0,
            2,
            RelayMessage.EXITED,
            61,
            3,
            0,
            50,
            2,
            0,
            1,
            99
        };
        return Stream.of(toOwner, toMember);
    }
}

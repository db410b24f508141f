package io.rdma4j.link.linux;

import static java.nio.charset.StandardCharsets.ISO_8859_1;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.rdma4j.link.ChildJava;
import io.rdma4j.link.Frames;
import io.rdma4j.link.LinkSet;
import io.rdma4j.link.ReceiveBurst;
import io.rdma4j.link.ReceiveRing;
import io.rdma4j.link.RingListener;
import io.rdma4j.link.SendBurst;
import io.rdma4j.link.SendRing;
import io.rdma4j.link.ring.RingLayout;
import io.rdma4j.wire.Frame;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.net.StandardProtocolFamily;
import java.net.UnixDomainSocketAddress;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.SocketChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.MethodSource;

/** Rings between two link sets, as in two processes, and hostile processes that hand over something else. */
@Timeout(60)
@EnabledOnOs(OS.LINUX)
class LinuxRingTest {
    private static final long SOURCE_HIGH = 0x2001_0db8_0000_0001L;
    private static final long SOURCE_LOW = 21;
    private static final int SOURCE_PORT = 0xd001;
    private static final int FRAME_BYTES = 200;

    /** Offset of the tail in the memory of a ring. */
    private static final int TAIL = 0;

    @TempDir
    @SuppressWarnings("NullAway.Init")
    Path folder;

    @SuppressWarnings("NullAway.Init")
    private Path path;

    @SuppressWarnings("NullAway.Init")
    private LinuxLinkSet sender;

    @SuppressWarnings("NullAway.Init")
    private LinuxLinkSet receiver;

    @SuppressWarnings("NullAway.Init")
    private RingListener listener;

    private final SendBurst burst = new SendBurst(Arena.ofAuto(), 1 << 16);

    /** Java opens a descriptor for good when it first uses such a channel. */
    @BeforeAll
    static void useChannel() throws IOException {
        SocketChannel.open(StandardProtocolFamily.UNIX).close();
    }

    @BeforeEach
    void open() throws IOException {
        path = folder.resolve("r.sock");
        sender = new LinuxLinkSet();
        receiver = new LinuxLinkSet();
        listener = receiver.listenForRings(path, false);
    }

    @AfterEach
    void close() {
        sender.close();
        receiver.close();
    }

    // ---- helpers

    private SendRing connect() throws IOException {
        return sender.connectRing(path, SOURCE_HIGH, SOURCE_LOW);
    }

    private ReceiveRing accept() {
        for (int i = 0; i < 50; i++) {
            ReceiveRing ring = listener.accept();
            if (ring != null) {
                return ring;
            }
            receiver.await(100_000_000);
        }
        throw new AssertionError("no ring was handed over");
    }

    private static boolean send(SendRing ring, SendBurst burst, int... fills) {
        burst.clear();
        for (int fill : fills) {
            Frames.append(burst, FRAME_BYTES, fill);
        }
        return ring.send(burst, SOURCE_PORT);
    }

    private boolean send(SendRing ring, int... fills) {
        return send(ring, burst, fills);
    }

    /** Returns the first bytes of the frames that are pending. */
    private static List<Integer> poll(ReceiveRing ring) {
        List<Integer> fills = new ArrayList<>();
        ReceiveBurst received = new ReceiveBurst(16);
        while (ring.poll(received, 0, 0, 16) > 0) {
            for (int i = 0; i < received.count(); i++) {
                byte[] frame = Frames.bytes(received.frame(i));
                assertThat(frame).isEqualTo(Frames.filled(FRAME_BYTES, frame[0]));
                fills.add((int) frame[0]);
            }
            received.clear();
        }
        return fills;
    }

    /** Waits until frames have arrived, and returns their first bytes. A lost wakeup hangs the test. */
    private static List<Integer> awaitFrames(LinkSet set, ReceiveRing ring) {
        List<Integer> fills = poll(ring);
        while (fills.isEmpty()) {
            set.await(Long.MAX_VALUE);
            fills = poll(ring);
        }
        return fills;
    }

    /** Waits until the sender has ended, and returns the first bytes of the frames that it wrote before. */
    private List<Integer> awaitEnd(ReceiveRing ring) {
        List<Integer> fills = new ArrayList<>();
        while (!ring.isEnded()) {
            receiver.await(Long.MAX_VALUE);
            fills.addAll(poll(ring));
        }
        fills.addAll(poll(ring));
        return fills;
    }

    private void assertRingsAreStillAccepted() throws IOException {
        try (SendRing ring = connect();
                ReceiveRing accepted = accept()) {
            assertThat(send(ring, 1, 2, 3)).isTrue();
            assertThat(poll(accepted)).containsExactly(1, 2, 3);
        }
    }

    /** Returns the number of open sockets, files in memory and files of this test. */
    private long descriptors() throws IOException {
        try (Stream<Path> all = Files.list(Path.of("/proc/self/fd"))) {
            return all.map(LinuxRingTest::target)
                    .filter(target -> target.startsWith("socket:")
                            || target.startsWith("/memfd:")
                            || target.startsWith(folder.toString()))
                    .count();
        }
    }

    private static String target(Path descriptor) {
        try {
            return Files.readSymbolicLink(descriptor).toString();
        } catch (IOException e) {
            return ""; // it was that of the list
        }
    }

    /** Returns the number of mappings of rings. */
    private static long mappings() throws IOException {
        try (Stream<String> lines = Files.lines(Path.of("/proc/self/maps"), ISO_8859_1)) {
            return lines.filter(line -> line.contains("/memfd:rdma4j-ring")).count();
        }
    }

    // ---- hand over

    @Test
    void framesArriveWithTheAddressesOfBothEnds() throws IOException {
        SendRing ring = connect();
        ReceiveRing accepted = accept();
        burst.clear();
        burst.destination(3, 4, 0, 0x68);
        burst.withoutIcrc();
        Frames.append(burst, FRAME_BYTES, 1);
        Frames.append(burst, 50, 2);
        assertThat(ring.send(burst, SOURCE_PORT)).isTrue();

        ReceiveBurst received = new ReceiveBurst(4);
        received.add().sourcePort = 77;
        assertThat(accepted.poll(received, 5, 6, 3)).isEqualTo(2);
        assertThat(received.count()).isEqualTo(3);
        assertThat(received.frame(0).sourcePort).isEqualTo(77);
        assertThat(Frames.bytes(received.frame(1))).isEqualTo(Frames.filled(FRAME_BYTES, 1));
        assertThat(Frames.bytes(received.frame(2))).isEqualTo(Frames.filled(50, 2));
        for (int i = 1; i <= 2; i++) {
            Frame frame = received.frame(i);
            assertThat(frame.sourceHigh).isEqualTo(SOURCE_HIGH);
            assertThat(frame.sourceLow).isEqualTo(SOURCE_LOW);
            assertThat(frame.destinationHigh).isEqualTo(5);
            assertThat(frame.destinationLow).isEqualTo(6);
            assertThat(frame.sourcePort).isEqualTo(SOURCE_PORT);
            assertThat(frame.destinationPort).isEqualTo(Frame.UDP_PORT);
            assertThat(frame.trafficClass).isEqualTo(0x68);
            assertThat(frame.isSealed).isFalse();
        }
        assertThat(accepted.poll(received, 5, 6, 1)).isZero();
        assertThat(ring.isEnded() || accepted.isEnded()).isFalse();
    }

    @Test
    void framesWrittenBeforeTheRingIsAcceptedArrive() throws IOException {
        SendRing ring = connect();
        assertThat(send(ring, 1, 2)).isTrue();
        assertThat(send(ring, 3)).isTrue();
        ReceiveRing accepted = accept();
        assertThat(send(ring, 4)).isTrue();
        assertThat(poll(accepted)).containsExactly(1, 2, 3, 4);
    }

    @Test
    void framesOfARingThatWasClosedBeforeItIsAcceptedArrive() throws IOException {
        SendRing ring = connect();
        assertThat(send(ring, 1, 2)).isTrue();
        ring.close();
        ReceiveRing accepted = accept();
        accepted.checkEnd();
        assertThat(accepted.isEnded()).isTrue();
        assertThat(poll(accepted)).containsExactly(1, 2);
    }

    @Test
    void ringsOfOneListenerAreIndependent() throws IOException {
        List<SendRing> rings = new ArrayList<>();
        for (int i = 0; i < 5; i++) {
            rings.add(sender.connectRing(path, 0, i));
        }
        for (int i = 0; i < 5; i++) {
            assertThat(send(rings.get(i), i, i)).isTrue();
        }
        rings.get(2).close();
        ReceiveBurst received = new ReceiveBurst(16);
        List<ReceiveRing> acceptedRings = Stream.generate(this::accept).limit(5).toList();
        assertThat(listener.accept()).isNull();
        acceptedRings.forEach(ring -> assertThat(ring.poll(received, 0, 0, 2)).isEqualTo(2));
        for (int i = 0; i < received.count(); i++) {
            Frame frame = received.frame(i);
            assertThat(Frames.bytes(frame)).isEqualTo(Frames.filled(FRAME_BYTES, (int) frame.sourceLow));
        }
    }

    @Test
    void framesThatFindNoRoomAreDroppedAndTheOthersArrive() throws IOException {
        SendRing ring = connect();
        ReceiveRing accepted = accept();
        int written = 0;
        while (send(ring, written & 0x3f)) {
            written++;
        }
        assertThat(send(ring, 77)).isFalse();
        List<Integer> fills = poll(accepted);
        assertThat(fills).hasSize(written).doesNotContain(77).startsWith(0, 1, 2, 3);
        assertThat(send(ring, 78)).isTrue();
        assertThat(poll(accepted)).containsExactly(78);
        assertThat(ring.isEnded() || accepted.isEnded()).isFalse();
    }

    @Test
    void connectingWithoutAListenerFailsAndNamesThePath() throws IOException {
        long before = descriptors();
        Path none = folder.resolve("none.sock");
        assertThatThrownBy(() -> sender.connectRing(none, 0, 1))
                .isInstanceOf(IOException.class)
                .hasMessageContaining(none.toString());
        listener.close();
        assertThat(path).doesNotExist();
        assertThatThrownBy(() -> sender.connectRing(path, 0, 1)).isInstanceOf(IOException.class);
        assertThat(descriptors()).isEqualTo(before - 1);
    }

    @Test
    void acceptedRingsStayOpenWhenTheListenerCloses() throws IOException {
        SendRing ring = connect();
        ReceiveRing accepted = accept();
        SendRing unaccepted = connect();
        listener.close();
        listener.close();
        assertThat(listener.accept()).isNull();
        assertThat(send(ring, 1)).isTrue();
        assertThat(awaitFrames(receiver, accepted)).containsExactly(1);
        while (!unaccepted.isEnded()) {
            sender.await(Long.MAX_VALUE);
        }
        assertThat(ring.isEnded()).isFalse();
    }

    // ---- waiting

    @Test
    void awaitReturnsAtOnceWhileFramesArePending() throws IOException {
        SendRing ring = connect();
        ReceiveRing accepted = accept();
        receiver.await(0);
        assertThat(send(ring, 1, 2)).isTrue();
        receiver.await(Long.MAX_VALUE);
        ReceiveBurst received = new ReceiveBurst(1);
        assertThat(accepted.poll(received, 0, 0, 1)).isEqualTo(1);
        receiver.await(Long.MAX_VALUE);
        assertThat(poll(accepted)).containsExactly(2);
    }

    @Test
    void awaitDoesNotSpinForAnEmptyOrEndedRing() throws IOException {
        SendRing ring = connect();
        ReceiveRing accepted = accept();
        assertThat(send(ring, 1)).isTrue();
        assertThat(awaitFrames(receiver, accepted)).containsExactly(1);
        assertAwaitLastsItsTime();
        ring.close();
        assertThat(awaitEnd(accepted)).isEmpty();
        assertAwaitLastsItsTime();
    }

    private void assertAwaitLastsItsTime() {
        receiver.await(0);
        receiver.await(1_000_000); // may return at once after a change
        long start = System.nanoTime();
        receiver.await(20_000_000);
        assertThat(System.nanoTime() - start).isGreaterThanOrEqualTo(18_000_000);
    }

    /** Each side waits indefinitely for each frame: a lost wakeup hangs the test. */
    @Test
    void noFrameIsMissedByReadersThatSleepInAPingPong() throws Exception {
        Path back = folder.resolve("back.sock");
        RingListener backListener = sender.listenForRings(back, false);
        SendRing there = connect();
        ReceiveRing fromThere = accept();
        SendRing andBack = receiver.connectRing(back, 0, 1);
        ReceiveRing fromBack = Objects.requireNonNull(backListener.accept());
        int rounds = 20_000;
        CompletableFuture<Void> echo = CompletableFuture.runAsync(() -> {
            SendBurst own = new SendBurst(Arena.ofAuto(), SendBurst.MAX_FRAME_BYTES);
            for (int i = 0; i < rounds; i++) {
                assertThat(awaitFrames(receiver, fromThere)).containsExactly(i & 0x7f);
                assertThat(send(andBack, own, i & 0x7f)).isTrue();
            }
        });
        for (int i = 0; i < rounds; i++) {
            assertThat(send(there, i & 0x7f)).isTrue();
            assertThat(awaitFrames(sender, fromBack)).containsExactly(i & 0x7f);
        }
        echo.get();
    }

    /** The thread waits before there is a ring, and takes it, and then its first frame, only when it is woken. */
    @Test
    void threadThatWaitsIsWokenByARingAndByItsFirstFrame() throws Exception {
        for (int round = 0; round < 300; round++) {
            int fill = round & 0x7f;
            CompletableFuture<ReceiveRing> accepted = new CompletableFuture<>();
            CompletableFuture<List<Integer>> frames = CompletableFuture.supplyAsync(() -> {
                ReceiveRing ring = listener.accept();
                while (ring == null) {
                    receiver.await(Long.MAX_VALUE);
                    ring = listener.accept();
                }
                accepted.complete(ring);
                return awaitFrames(receiver, ring);
            });
            SendRing ring = connect();
            if (round % 3 > 0) {
                accepted.get();
            }
            if (round % 3 > 1) {
                TimeUnit.MILLISECONDS.sleep(1);
            }
            assertThat(send(ring, fill)).isTrue();
            assertThat(frames.get()).containsExactly(fill);
            ring.close();
            accepted.get().close();
        }
    }

    @Test
    void ringsOpenAndCloseWhileAnotherThreadWaits() throws Exception {
        long mapped = mappings();
        long before = descriptors();
        AtomicBoolean done = new AtomicBoolean();
        CompletableFuture<Void> waiter = CompletableFuture.runAsync(() -> {
            while (!done.get()) {
                receiver.await(Long.MAX_VALUE);
            }
        });
        for (int round = 0; round < 300; round++) {
            SendRing ring = connect();
            ReceiveRing accepted = acceptNow();
            assertThat(send(ring, 1, 2)).isTrue();
            if (round % 2 == 0) {
                assertThat(poll(accepted)).containsExactly(1, 2);
                ring.close();
                accepted.close();
            } else {
                accepted.close();
                ring.close();
            }
            accepted.close();
            ring.close();
            assertThat(poll(accepted)).isEmpty();
            assertThat(send(ring, 3)).isFalse();
            assertThat(ring.isEnded() && accepted.isEnded()).isTrue();
            assertThat(waiter).isNotDone();
        }
        done.set(true);
        receiver.wakeup();
        waiter.get();
        assertThat(mappings()).isEqualTo(mapped);
        assertThat(descriptors()).isEqualTo(before);
    }

    /** Accepts without waiting, since another thread waits. A ring is there as soon as it was handed over. */
    private ReceiveRing acceptNow() {
        return Objects.requireNonNull(listener.accept());
    }

    // ---- the end of a process

    @Test
    void receiverThatWaitsSeesTheEndOfTheSenderAndReadsWhatItWrote() throws IOException {
        SendRing ring = connect();
        ReceiveRing accepted = accept();
        assertThat(send(ring, 1, 2)).isTrue();
        assertThat(awaitFrames(receiver, accepted)).containsExactly(1, 2);
        assertThat(send(ring, 3)).isTrue();
        ring.close();
        assertThat(awaitEnd(accepted)).containsExactly(3);
    }

    @Test
    void receiverThatNeverWaitsSeesTheEndOfTheSenderWhenItLooks() throws IOException {
        SendRing ring = connect();
        ReceiveRing accepted = accept();
        accepted.checkEnd();
        assertThat(accepted.isEnded()).isFalse();
        assertThat(send(ring, 1)).isTrue();
        ring.close();
        accepted.checkEnd();
        assertThat(accepted.isEnded()).isTrue();
        assertThat(poll(accepted)).containsExactly(1);
        accepted.checkEnd();
        assertThat(accepted.isEnded()).isTrue();
    }

    @Test
    void senderSeesTheEndOfTheReceiver() throws IOException {
        SendRing ring = connect();
        accept().close();
        while (!ring.isEnded()) {
            sender.await(Long.MAX_VALUE);
        }
    }

    @Test
    void senderSeesTheEndOfAReceiverThatWaitedWhenItWrites() throws IOException {
        SendRing ring = connect();
        ReceiveRing accepted = accept();
        receiver.await(0);
        assertThat(receiver.await(1_000_000)).isFalse(); // sets the flag, and clears it
        accepted.close();
        assertThat(send(ring, 1)).as("the memory is still there").isTrue();
        while (!ring.isEnded()) {
            sender.await(Long.MAX_VALUE);
        }
        assertThat(send(ring, 2)).as("the caller closes an ended ring").isTrue();
        ring.close();
        assertThat(send(ring, 3)).isFalse();
    }

    /** Connects to the ring of the path in a property, writes frames, and ends without closing anything. */
    static final class Sender {
        private Sender() {}

        public static void main(String[] args) throws IOException {
            SendRing ring = new LinuxLinkSet().connectRing(Path.of(System.getProperty("path", "")), 0, 5);
            SendBurst burst = new SendBurst(Arena.ofAuto(), 1 << 16);
            boolean isSent = send(ring, burst, 1, 2) && send(ring, burst, 3);
            System.out.println(isSent);
            Runtime.getRuntime().halt(0);
        }
    }

    /** Accepts a ring on the path in a property, reads a frame, and ends without closing anything. */
    static final class Receiver {
        private Receiver() {}

        public static void main(String[] args) throws IOException {
            LinuxLinkSet set = new LinuxLinkSet();
            RingListener listener = set.listenForRings(Path.of(System.getProperty("path", "")), false);
            ReceiveRing ring = listener.accept();
            while (ring == null) {
                set.await(Long.MAX_VALUE);
                ring = listener.accept();
            }
            ReceiveBurst received = new ReceiveBurst(1);
            while (ring.poll(received, 0, 0, 1) == 0) {
                set.await(Long.MAX_VALUE);
            }
            System.out.println(received.frame(0).length);
            Runtime.getRuntime().halt(0);
        }
    }

    private static CompletableFuture<List<String>> start(Class<?> main, Path path) {
        List<String> options = List.of("--enable-native-access=ALL-UNNAMED", "-Dpath=" + path);
        return CompletableFuture.supplyAsync(() -> {
            try {
                return ChildJava.run(List.of(), options, main);
            } catch (Exception e) {
                throw new AssertionError(e);
            }
        });
    }

    @Test
    void framesOfAProcessThatHasEndedAreRead() throws Exception {
        assertThat(start(Sender.class, path).get()).containsExactly("true");
        ReceiveRing accepted = accept();
        assertThat(awaitEnd(accepted)).containsExactly(1, 2, 3);
    }

    @Test
    void endOfTheReceivingProcessIsSeen() throws Exception {
        Path other = folder.resolve("other.sock");
        CompletableFuture<List<String>> process = start(Receiver.class, other);
        SendRing ring = connectTo(other, process);
        assertThat(send(ring, 9)).isTrue();
        while (!ring.isEnded()) {
            sender.await(Long.MAX_VALUE);
        }
        assertThat(process.get()).containsExactly("" + FRAME_BYTES);
    }

    private SendRing connectTo(Path other, CompletableFuture<?> process) throws InterruptedException {
        while (!process.isDone()) {
            try {
                return sender.connectRing(other, 0, 1);
            } catch (IOException e) {
                TimeUnit.MILLISECONDS.sleep(10);
            }
        }
        throw new AssertionError("the process has ended: " + process);
    }

    @Test
    void closingTheSetClosesItsRings() throws IOException {
        long mapped = mappings();
        SendRing ring = connect();
        ReceiveRing accepted = accept();
        SendRing unaccepted = connect();
        assertThat(send(ring, 1)).isTrue();
        assertThat(mappings()).isEqualTo(mapped + 3);

        receiver.close();
        assertThat(accepted.isEnded()).isTrue();
        assertThat(poll(accepted)).isEmpty();
        assertThat(listener.accept()).isNull();
        assertThat(path).doesNotExist();
        assertThat(mappings()).isEqualTo(mapped + 2);
        while (!ring.isEnded() || !unaccepted.isEnded()) {
            sender.await(Long.MAX_VALUE);
        }

        sender.close();
        assertThat(ring.isEnded()).isTrue();
        assertThat(send(ring, 2)).isFalse();
        assertThat(mappings()).isEqualTo(mapped);
        ring.close();
        accepted.close();
    }

    @Test
    void closingTheSetOfTheSenderEndsItsRings() throws IOException {
        SendRing ring = connect();
        ReceiveRing accepted = accept();
        assertThat(send(ring, 1)).isTrue();
        sender.close();
        assertThat(ring.isEnded()).isTrue();
        assertThat(send(ring, 2)).isFalse();
        assertThat(awaitEnd(accepted)).containsExactly(1);
    }

    /** A thread that closes the set while another one waits, as when a program ends. */
    @Test
    void closingTheSetEndsAnAwaitWithRings() throws Exception {
        for (int round = 0; round < 50; round++) {
            LinuxLinkSet set = new LinuxLinkSet();
            Path own = folder.resolve("s" + round);
            RingListener ringListener = set.listenForRings(own, false);
            SendRing ring = sender.connectRing(own, 0, 1);
            ReceiveRing accepted = Objects.requireNonNull(ringListener.accept());
            CompletableFuture<Void> waiter = CompletableFuture.runAsync(() -> {
                try {
                    while (true) {
                        set.await(Long.MAX_VALUE);
                    }
                } catch (IllegalStateException e) {
                    assertThat(e).hasMessageContaining("closed");
                }
            });
            assertThat(send(ring, 1)).isTrue();
            set.close();
            waiter.get();
            assertThat(accepted.isEnded()).isTrue();
            ring.close();
        }
    }

    // ---- processes that hand over something else

    /** A process that connects, and sends what it likes. */
    private final class Hostile implements AutoCloseable {
        private final Socket socket;

        Hostile() throws IOException {
            socket = Socket.open(sender, Posix.AF_UNIX, Posix.SOCK_STREAM);
            MemorySegment name = SocketAddresses.unix(path);
            assertThat(Posix.connect(socket.errno, socket.fd, name, (int) name.byteSize()))
                    .isZero();
        }

        void send(byte[] bytes) {
            MemorySegment data = Arena.ofAuto().allocateFrom(ValueLayout.JAVA_BYTE, bytes);
            assertThat(Posix.send(socket.errno, socket.fd, data.address(), bytes.length))
                    .isEqualTo(bytes.length);
            assertThat(data.byteSize()).isEqualTo(bytes.length);
        }

        /** Sends a correct greeting with any descriptor. */
        void greet(int fd) {
            assertThat(new RingGreeting().send(socket, fd, 0, 9)).isTrue();
        }

        boolean isRefused() {
            MemorySegment data = Arena.ofAuto().allocate(16);
            int received = Posix.recv(socket.errno, socket.fd, data.address(), data.byteSize());
            assertThat(received).isLessThanOrEqualTo(0);
            return received != -LinuxErrno.EAGAIN;
        }

        @Override
        public void close() {
            socket.close();
        }
    }

    private static byte[] greeting() {
        return ByteBuffer.allocate(24)
                .order(ByteOrder.nativeOrder())
                .putLong(0x7234_6a52_0000_0001L)
                .array();
    }

    static Stream<byte[]> garbage() {
        byte[] otherVersion = greeting();
        otherVersion[0] ^= 2;
        return Stream.of(
                new byte[1],
                new byte[24],
                new byte[100],
                "GET / HTTP/1.1\r\n\r\n".getBytes(ISO_8859_1),
                greeting(), // without a descriptor
                otherVersion,
                ByteBuffer.allocate(8)
                        .order(ByteOrder.nativeOrder())
                        .put(greeting(), 0, 8)
                        .array());
    }

    @ParameterizedTest
    @MethodSource("garbage")
    void greetingThatIsGarbageIsRefusedAndOthersAreAccepted(byte[] garbage) throws IOException {
        long before = descriptors();
        try (SocketChannel raw = SocketChannel.open(UnixDomainSocketAddress.of(path))) {
            raw.write(ByteBuffer.wrap(garbage));
            assertThat(listener.accept()).isNull();
            assertThat(isAtEnd(raw)).isTrue();
            assertRingsAreStillAccepted();
        }
        assertThat(descriptors()).isEqualTo(before);
    }

    /** Returns whether the other side has closed the connection, with unread bytes perhaps. */
    private static boolean isAtEnd(SocketChannel channel) {
        try {
            return channel.read(ByteBuffer.allocate(1)) == -1;
        } catch (IOException e) {
            return true;
        }
    }

    @Test
    void processThatConnectsAndEndsIsForgotten() throws IOException {
        long before = descriptors();
        SocketChannel.open(UnixDomainSocketAddress.of(path)).close();
        assertThat(listener.accept()).isNull();
        assertThat(descriptors()).isEqualTo(before);
        try (SocketChannel raw = SocketChannel.open(UnixDomainSocketAddress.of(path))) {
            assertThat(listener.accept()).isNull();
            assertThat(raw.isConnected()).isTrue();
        }
        assertThat(listener.accept()).isNull();
        assertThat(descriptors()).isEqualTo(before);
        assertRingsAreStillAccepted();
    }

    @Test
    void greetingMayComeLongAfterTheConnection() throws IOException {
        try (Hostile first = new Hostile();
                Hostile second = new Hostile();
                SharedMemory memory = SharedMemory.create(RingLayout.RECORDS + RingLayout.MIN_CAPACITY_BYTES)) {
            for (int i = 0; i < 3; i++) {
                assertThat(listener.accept()).isNull();
                assertRingsAreStillAccepted();
            }
            second.greet(memory.descriptor());
            assertThat(receiver.await(Long.MAX_VALUE))
                    .as("the thread that waits is woken")
                    .isTrue();
            ReceiveRing accepted = Objects.requireNonNull(listener.accept());
            assertThat(poll(accepted)).isEmpty();
            assertThat(first.isRefused() || second.isRefused()).isFalse();
            first.send(new byte[1]);
            assertThat(listener.accept()).isNull();
            assertThat(first.isRefused()).isTrue();
            accepted.close();
        }
    }

    /** More than are kept waiting: those that connected first are given up. */
    @Test
    void processesThatConnectAndSendNothingDoNotKeepOthersOut() throws IOException {
        long before = descriptors();
        List<Hostile> silent = new ArrayList<>();
        for (int i = 0; i < 400; i++) {
            silent.add(new Hostile());
            if (i % 50 == 0) {
                assertThat(listener.accept()).isNull();
            }
        }
        assertThat(listener.accept()).isNull();
        assertRingsAreStillAccepted();
        receiver.await(0);
        assertThat(receiver.await(1_000_000))
                .as("something is left in the queue")
                .isFalse();
        silent.forEach(Hostile::close);
        assertThat(listener.accept()).isNull();
        assertThat(descriptors()).isEqualTo(before);
    }

    /** Something that is not the memory of a ring. */
    enum Descriptor {
        ORDINARY_FILE,
        SOCKET,
        UNSEALED,
        SHRINKABLE,
        READ_ONLY,
        EMPTY,
        TOO_SMALL,
        TOO_LARGE,
        NO_POWER_OF_TWO,
        WITHOUT_RECORDS,
        BEYOND_32_BITS
    }

    private static final long SIZE = RingLayout.RECORDS + RingLayout.MIN_CAPACITY_BYTES;
    private static final int O_RDWR = 2;
    private static final int SEAL_ALL = 7;
    private static final int SEAL_GROW_AND_SEAL = 5;
    private static final int SEAL_WRITE = 8;

    private int create(Descriptor kind) throws IOException {
        return switch (kind) {
            case ORDINARY_FILE -> openFile();
            case SOCKET -> Posix.socket(Posix.newErrno(), Posix.AF_UNIX, Posix.SOCK_STREAM, 0);
            case UNSEALED -> memory(SIZE, 0);
            case SHRINKABLE -> memory(SIZE, SEAL_GROW_AND_SEAL);
            case READ_ONLY -> memory(SIZE, SEAL_ALL | SEAL_WRITE);
            case EMPTY -> memory(0, SEAL_ALL);
            case TOO_SMALL -> memory(RingLayout.RECORDS + RingLayout.MIN_CAPACITY_BYTES / 2, SEAL_ALL);
            case TOO_LARGE -> memory(RingLayout.RECORDS + RingLayout.MAX_CAPACITY_BYTES * 2L, SEAL_ALL);
            case NO_POWER_OF_TWO -> memory(SIZE + 4096, SEAL_ALL);
            case WITHOUT_RECORDS -> memory(RingLayout.MIN_CAPACITY_BYTES, SEAL_ALL);
            case BEYOND_32_BITS -> memory((1L << 32) + SIZE, SEAL_ALL);
        };
    }

    private int openFile() throws IOException {
        Path file = Files.write(folder.resolve("file"), new byte[(int) SIZE]);
        MemorySegment name = Arena.ofAuto().allocateFrom(file.toString());
        int fd = Posix.call(Posix.handle("open", Posix.ERRNO), Posix.newErrno(), name.address(), O_RDWR, 0, 0, 0);
        assertThat(name.byteSize()).isPositive();
        return fd;
    }

    private static int memory(long bytes, int seals) {
        MemorySegment errno = Posix.newErrno();
        int fd = MemoryCalls.create(errno, Arena.ofAuto().allocateFrom("rdma4j-ring"));
        assertThat(MemoryCalls.resize(errno, fd, bytes)).isZero();
        assertThat(MemoryCalls.addSeals(errno, fd, seals)).isZero();
        return fd;
    }

    @ParameterizedTest
    @EnumSource
    void descriptorOfSomethingElseIsRefusedAndClosed(Descriptor kind) throws IOException {
        long before = descriptors();
        long mapped = mappings();
        try (Hostile hostile = new Hostile()) {
            int fd = create(kind);
            assertThat(fd).isPositive();
            hostile.greet(fd);
            Posix.close(fd);
            assertThat(listener.accept()).isNull();
            assertThat(hostile.isRefused()).isTrue();
            assertRingsAreStillAccepted();
        }
        assertThat(descriptors()).isEqualTo(before);
        assertThat(mappings()).isEqualTo(mapped);
    }

    /** The sealed memory of the right size is accepted, so the test above fails for no other reason. */
    @Test
    void sealedMemoryOfTheSizeOfARingIsAccepted() throws IOException {
        try (Hostile hostile = new Hostile()) {
            int fd = memory(SIZE, SEAL_ALL);
            hostile.greet(fd);
            Posix.close(fd);
            assertThat(listener.accept()).isNotNull();
            assertThat(hostile.isRefused()).isFalse();
        }
    }

    @Test
    void whatFollowsTheGreetingIsIgnored() throws IOException {
        long before = descriptors();
        Hostile hostile = new Hostile();
        SharedMemory memory = SharedMemory.create(SIZE);
        hostile.greet(memory.descriptor());
        hostile.greet(memory.descriptor());
        ReceiveRing accepted = Objects.requireNonNull(listener.accept());
        hostile.send(new byte[1000]);
        hostile.greet(memory.descriptor());
        for (int i = 0; i < 20; i++) {
            accepted.checkEnd();
        }
        assertThat(accepted.isEnded()).isFalse();
        assertThat(descriptors()).as("two sockets and the memory").isEqualTo(before + 3);
        hostile.close();
        accepted.checkEnd();
        assertThat(accepted.isEnded()).isTrue();
        accepted.close();
        memory.close();
        assertThat(descriptors()).isEqualTo(before);
    }

    @Test
    void ringWithATailThatCannotBeIsEndedAndDoesNotBlockTheThreadThatWaits() throws IOException {
        try (Hostile hostile = new Hostile();
                SharedMemory memory = SharedMemory.create(SIZE)) {
            hostile.greet(memory.descriptor());
            ReceiveRing accepted = Objects.requireNonNull(listener.accept());
            memory.segment().set(ValueLayout.JAVA_LONG, TAIL, -1);
            receiver.await(Long.MAX_VALUE);
            receiver.await(Long.MAX_VALUE);
            assertThat(poll(accepted)).isEmpty();
            assertThat(accepted.isEnded()).isTrue();
            accepted.close();
            assertThat(hostile.isRefused()).isTrue();
            assertRingsAreStillAccepted();
        }
    }
}

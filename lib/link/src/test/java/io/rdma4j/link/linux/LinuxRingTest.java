package io.rdma4j.link.linux;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.rdma4j.link.ChildJava;
import io.rdma4j.link.Frames;
import io.rdma4j.link.ReceiveBurst;
import io.rdma4j.link.ReceiveRing;
import io.rdma4j.link.RingListener;
import io.rdma4j.link.SendBurst;
import io.rdma4j.link.SendRing;
import io.rdma4j.wire.Frame;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;

/** Rings between two link sets, as in two processes. */
@Timeout(60)
@EnabledOnOs(OS.LINUX)
class LinuxRingTest extends RingEnds {
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
    void readerKnowsWhenItHasReachedWhatWasWrittenBefore() throws IOException {
        SendRing ring = connect();
        ReceiveRing accepted = accept();
        assertThat(send(ring, 1, 2)).isTrue();
        long written = accepted.written();
        assertThat(send(ring, 3)).isTrue();
        ReceiveBurst received = new ReceiveBurst(4);
        assertThat(accepted.poll(received, 5, 6, 1)).isEqualTo(1);
        assertThat(accepted.hasReached(written))
                .as("half of the record is left")
                .isFalse();
        assertThat(accepted.poll(received, 5, 6, 1)).isEqualTo(1);
        assertThat(accepted.hasReached(written)).isTrue();
        assertThat(accepted.hasReached(accepted.written())).isFalse();
    }

    @Test
    void writerThatNeverWritesLearnsOfTheEndOfTheReader() throws IOException {
        SendRing ring = connect();
        accept().close();
        assertThat(ring.isEnded()).isFalse();
        ring.checkEnd();
        assertThat(ring.isEnded()).isTrue();
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

    /**
     * One thread waits while another one polls, as when a program polls a completion queue: the polling thread must not
     * consume the wakeup of the waiting one. A lost wakeup hangs the test.
     */
    @Test
    void threadThatWaitsIsWokenAlthoughAnotherThreadHasCheckedForTheEnd() throws Exception {
        SendRing ring = connect();
        ReceiveRing accepted = accept();
        Object engineLock = new Object();
        BlockingQueue<Integer> frames = new LinkedBlockingQueue<>();
        int rounds = 200;
        CompletableFuture<Void> waiter = CompletableFuture.runAsync(() -> {
            for (int count = 0; count < rounds; ) {
                receiver.await(Long.MAX_VALUE);
                synchronized (engineLock) {
                    List<Integer> polled = poll(accepted);
                    frames.addAll(polled);
                    count += polled.size();
                }
            }
        });
        for (int round = 0; round < rounds; round++) {
            TimeUnit.MILLISECONDS.sleep(1); // for the other thread to wait
            synchronized (engineLock) {
                assertThat(send(ring, 1)).isTrue();
                assertThat(poll(accepted)).containsExactly(1);
                accepted.checkEnd();
            }
            assertThat(send(ring, 2)).isTrue();
            assertThat(frames.take()).isEqualTo(2);
        }
        waiter.get();
    }

    /**
     * The thread waits before there is a ring. It accepts the ring, and reads its first frame, only when it is woken.
     */
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
    void receiverThatNeverWaitsSeesTheEndOfTheSenderWhenItChecks() throws IOException {
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
}

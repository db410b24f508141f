package io.rdma4j.link.ring;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;

import io.rdma4j.link.ReceiveBurst;
import io.rdma4j.link.SendBurst;
import io.rdma4j.wire.Frame;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Arbiter;
import org.openjdk.jcstress.annotations.Expect;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.LLL_Result;
import org.openjdk.jcstress.infra.results.LL_Result;
import org.openjdk.jcstress.infra.results.ZZL_Result;
import org.openjdk.jcstress.infra.results.Z_Result;

/** Frames in a ring pass from the thread that writes to the one that reads, and wake it if it waits. */
public final class RingStress {
    /** Four records of the smallest size. */
    private static final int CAPACITY = 4 * RingLayout.ALIGNMENT;

    /** The bytes of a frame that is alone in the smallest record. */
    private static final int SMALLEST = RingLayout.ALIGNMENT - RingLayout.HEADER_BYTES;

    private static final int MOST = 4;

    /** Bursts by the number of their first frame. They never change. */
    private static final SendBurst[] BURSTS = {
        burst(0, 1), burst(1, 1), burst(2, 1), burst(3, 1), burst(4, 1), burst(5, 1)
    };

    /** A burst of frames 2 and 3, in a record of more than the smallest size. */
    private static final SendBurst TWO_AND_THREE = burst(2, 2);

    private RingStress() {}

    private static SendBurst burst(int first, int frames) {
        SendBurst burst = new SendBurst(Arena.global(), SendBurst.MAX_FRAME_BYTES);
        for (int i = 0; i < frames; i++) {
            burst.segment().asSlice(burst.tail(), SMALLEST).fill((byte) (first + i));
            burst.append(SMALLEST);
        }
        return burst;
    }

    /** A small ring with both of its ends. */
    abstract static class Ring {
        private final MemorySegment memory =
                MemorySegment.ofArray(new long[(RingLayout.RECORDS + CAPACITY) / Long.BYTES]);

        private final ReceiveBurst received = new ReceiveBurst(MOST);
        final RingWriter writer = new RingWriter(memory, CAPACITY);
        final RingReader reader =
                new RingReader(memory, MemorySegment.ofArray(new byte[MOST * RingReader.COPY_BYTES]), false);

        boolean write(int number) {
            return writer.write(BURSTS[number], 0);
        }

        /** Returns the numbers of the frames that a poll returns, or "-". One that is not whole is "!". */
        String poll(int most) {
            received.clear();
            int count = reader.poll(received, most);
            StringBuilder numbers = new StringBuilder();
            for (int i = 0; i < count; i++) {
                numbers.append(number(received.frame(i)));
            }
            return count == 0 ? "-" : numbers.toString();
        }

        private static String number(Frame frame) {
            byte[] bytes = frame.segment.asSlice(frame.offset, frame.length).toArray(JAVA_BYTE);
            boolean isWhole = bytes.length == SMALLEST;
            for (byte b : bytes) {
                isWhole &= b == bytes[0];
            }
            return isWhole ? Integer.toString(bytes[0]) : "!";
        }

        String pollRest() {
            StringBuilder rest = new StringBuilder();
            for (String next = poll(MOST); !next.equals("-"); next = poll(MOST)) {
                rest.append(next);
            }
            return rest + (reader.isBroken() || writer.isBroken() ? "broken" : "");
        }
    }

    /** A thread that reads sees frames complete and in order. */
    @JCStressTest
    @Outcome(
            id = {"-, 123", "1, 23", "12, 3"},
            expect = Expect.ACCEPTABLE,
            desc = "each frame once, whole, in order")
    @State
    public static class WriteAndPoll extends Ring {
        /** Writes two records, the second one of two frames. */
        @Actor
        public void sender() {
            boolean _ = write(1) && writer.write(TWO_AND_THREE, 0);
        }

        /** Polls for two frames. */
        @Actor
        public void receiver(LL_Result r) {
            r.r1 = poll(2);
        }

        /** Takes the other frames. */
        @Arbiter
        public void end(LL_Result r) {
            r.r2 = pollRest();
        }
    }

    /** A full ring takes a record when one was released, and never writes over one that was not. */
    @JCStressTest
    @Outcome(id = "1, true, 2345", expect = Expect.ACCEPTABLE, desc = "read first: there was room")
    @Outcome(id = "1, false, 234", expect = Expect.ACCEPTABLE, desc = "written first: there was no room")
    @State
    public static class Full extends Ring {
        /** Starts with frames 1 to 4, which fill the ring. */
        public Full() {
            boolean _ = write(1) && write(2) && write(3) && write(4);
        }

        /** Writes a frame. */
        @Actor
        public void sender(LLL_Result r) {
            r.r2 = write(5);
        }

        /** Polls for a frame, and releases it by the next poll. */
        @Actor
        public void receiver(LLL_Result r) {
            r.r1 = poll(1);
            String _ = poll(0);
        }

        /** Takes the other frames. */
        @Arbiter
        public void end(LLL_Result r) {
            r.r3 = pollRest();
        }
    }

    /** A record that does not fit before the end of the ring is found at its start. */
    @JCStressTest
    @Outcome(
            id = {"-, 23", "23, "},
            expect = Expect.ACCEPTABLE,
            desc = "each frame once, whole, in order")
    @State
    public static class Wrap extends Ring {
        /** Starts with an empty ring whose next record begins at the last place. */
        public Wrap() {
            for (int i = 0; i < 3; i++) {
                boolean _ = write(1) && poll(1).equals("1") && poll(0).equals("-");
            }
        }

        /** Writes a record of two places. */
        @Actor
        public void sender() {
            boolean _ = writer.write(TWO_AND_THREE, 0);
        }

        /** Polls. */
        @Actor
        public void receiver(LL_Result r) {
            r.r1 = poll(MOST);
        }

        /** Takes the frames that are left. */
        @Arbiter
        public void end(LL_Result r) {
            r.r2 = pollRest();
        }
    }

    /** A thread that is about to wait is woken, or must not wait and finds the frame. */
    @JCStressTest
    @Outcome(id = "true, true, waits", expect = Expect.ACCEPTABLE, desc = "waits first: it is woken")
    @Outcome(id = "false, false, 1", expect = Expect.ACCEPTABLE, desc = "written first: it finds the frame")
    @Outcome(id = "true, false, 1", expect = Expect.ACCEPTABLE, desc = "it is woken, and finds the frame")
    @State
    public static class Wakeup extends Ring {
        /** Writes a frame. The first result is true if the reader must be woken. */
        @Actor
        public void sender(ZZL_Result r) {
            boolean _ = write(1);
            r.r1 = writer.mustWakeReader();
        }

        /** Begins to wait. The second result is true if it may. */
        @Actor
        public void receiver(ZZL_Result r) {
            r.r2 = reader.beginWait();
            if (r.r2) {
                r.r3 = "waits";
            } else {
                reader.endWait();
                r.r3 = poll(MOST);
            }
        }
    }

    /** A thread that reads, and waits only then, is not left asleep by a second frame. */
    @JCStressTest
    @Outcome(id = "false", expect = Expect.ACCEPTABLE, desc = "woken, or nothing was left")
    @Outcome(id = "true", expect = Expect.FORBIDDEN, desc = "a frame is left, and the reader sleeps")
    @State
    public static class WakeupByTheSecond extends Ring {
        private boolean isWoken;
        private boolean waits;
        private String polled = "";

        /** Writes two frames, and wakes the reader after each if it waits. */
        @Actor
        public void sender() {
            boolean _ = write(1);
            isWoken = writer.mustWakeReader();
            boolean _ = write(2);
            isWoken |= writer.mustWakeReader();
        }

        /** Polls, and begins to wait. */
        @Actor
        public void receiver() {
            polled = poll(1);
            waits = reader.beginWait();
        }

        /** Returns whether a wakeup was lost. */
        @Arbiter
        public void end(Z_Result r) {
            r.r1 = waits && !isWoken && !pollRest().isEmpty() && !polled.isEmpty();
        }
    }
}

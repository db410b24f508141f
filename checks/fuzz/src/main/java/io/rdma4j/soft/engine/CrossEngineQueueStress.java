package io.rdma4j.soft.engine;

import io.rdma4j.link.Link;
import io.rdma4j.sharing.Port;
import io.rdma4j.wire.Frame;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.net.InetAddress;
import java.nio.ByteBuffer;
import java.util.Arrays;
import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Arbiter;
import org.openjdk.jcstress.annotations.Expect;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.ZI_Result;

/** Frames that engines pass to another engine arrive once and intact. */
public final class CrossEngineQueueStress {
    private static final int BYTES = 64;
    private static final Port PORT = new UnusedPort();

    private CrossEngineQueueStress() {}

    /** A port that nothing is sent through or received from. */
    private static final class UnusedPort extends Port {
        UnusedPort() {
            super(InetAddress.ofLiteral("127.0.0.1"));
        }

        @Override
        public Link link() {
            throw new IllegalStateException("this port has no link");
        }

        @Override
        public int receive(long nowNanos, boolean all) {
            return 0;
        }

        @Override
        public int receiveStray(long nowNanos) {
            return 0;
        }

        @Override
        public long nextDeadlineNanos() {
            return Long.MAX_VALUE;
        }
    }

    /** The queue and the frames received from it. */
    abstract static class Frames {
        private final CrossEngineQueue crossEngineQueue = new CrossEngineQueue();
        private boolean isWhole = true;
        private int count;

        void putTwo(byte content) {
            for (int n = 0; n < 2; n++) {
                byte[] bytes = new byte[BYTES];
                Arrays.fill(bytes, content);
                Frame frame = new Frame();
                frame.segment = MemorySegment.ofArray(bytes);
                frame.buffer = ByteBuffer.wrap(bytes);
                frame.length = BYTES;
                frame.sourcePort = content;
                if (!crossEngineQueue.enqueue(PORT, frame)) {
                    throw new IllegalStateException("the queue must hold " + CrossEngineQueue.FRAMES);
                }
            }
        }

        void drain() {
            int _ = crossEngineQueue.drain(0, (now, port, frame) -> onFrame(frame));
        }

        private void onFrame(Frame frame) {
            byte[] bytes = frame.segment.asSlice(frame.offset, frame.length).toArray(ValueLayout.JAVA_BYTE);
            for (byte b : bytes) {
                isWhole &= b == frame.sourcePort;
            }
            isWhole &= bytes.length == BYTES;
            count++;
        }

        void drainAll(ZI_Result r) {
            while (!crossEngineQueue.isEmpty()) {
                drain();
            }
            r.r1 = isWhole;
            r.r2 = count;
        }
    }

    /** One engine puts frames, another one drains the queue. */
    @JCStressTest
    @Outcome(id = "true, 2", expect = Expect.ACCEPTABLE, desc = "all arrived, intact")
    @State
    public static class ProducerAndConsumer extends Frames {
        /** Puts two frames. */
        @Actor
        public void producer() {
            putTwo((byte) 1);
        }

        /** Drains the queue. */
        @Actor
        public void consumer() {
            drain();
        }

        /** Drains the remaining frames. */
        @Arbiter
        public void end(ZI_Result r) {
            drainAll(r);
        }
    }

    /** Two engines put frames. */
    @JCStressTest
    @Outcome(id = "true, 4", expect = Expect.ACCEPTABLE, desc = "all arrived, intact")
    @State
    public static class TwoProducers extends Frames {
        /** Puts two frames. */
        @Actor
        public void one() {
            putTwo((byte) 1);
        }

        /** Puts two frames. */
        @Actor
        public void other() {
            putTwo((byte) 2);
        }

        /** Drains the queue. */
        @Arbiter
        public void end(ZI_Result r) {
            drainAll(r);
        }
    }
}

package io.rdma4j.soft.engine;

import static org.assertj.core.api.Assertions.assertThat;

import io.rdma4j.link.Link;
import io.rdma4j.sharing.Port;
import io.rdma4j.soft.device.StackAccess;
import io.rdma4j.soft.process.ProcessStack;
import io.rdma4j.wire.Frame;
import java.lang.foreign.MemorySegment;
import java.net.InetAddress;
import java.nio.ByteBuffer;
import org.junit.jupiter.api.Test;

/** Frames that are handed over are queued in bounded memory. */
class CrossEngineQueueTest {
    private final CrossEngineQueue crossEngineQueue = new CrossEngineQueue();
    private final Port port = new UnusedPort();

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

    private static Frame frame(int bytes) {
        byte[] content = new byte[bytes];
        Frame frame = new Frame();
        frame.segment = MemorySegment.ofArray(content);
        frame.buffer = ByteBuffer.wrap(content);
        frame.length = bytes;
        return frame;
    }

    @Test
    void fullQueueRefusesFramesUntilItIsDrained() {
        Receiver receiver =
                new Receiver(StackAccess.devices(ProcessStack.stack()).engine());
        assertThat(crossEngineQueue.isEmpty()).isTrue();
        for (int round = 0; round < 3; round++) {
            for (int i = 0; i < CrossEngineQueue.FRAMES; i++) {
                assertThat(crossEngineQueue.enqueue(port, frame(i % 12))).isTrue();
            }
            assertThat(crossEngineQueue.enqueue(port, frame(8))).isFalse();
            assertThat(crossEngineQueue.isEmpty()).isFalse();
            assertThat(crossEngineQueue.drain(0, receiver)).isEqualTo(CrossEngineQueue.FRAMES);
            assertThat(crossEngineQueue.isEmpty()).isTrue();
            assertThat(crossEngineQueue.drain(0, receiver)).isZero();
        }
    }

    @Test
    void frameLongerThanAnyPacketIsRefused() {
        assertThat(crossEngineQueue.enqueue(port, frame(1 << 16))).isFalse();
        assertThat(crossEngineQueue.isEmpty()).isTrue();
    }
}

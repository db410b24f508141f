package io.rdma4j.soft.engine;

import static org.assertj.core.api.Assertions.assertThat;

import io.rdma4j.link.Link;
import io.rdma4j.sharing.Port;
import io.rdma4j.soft.SoftStack;
import io.rdma4j.soft.device.StackAccess;
import io.rdma4j.verbs.wait.Waiter;
import java.net.InetAddress;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/**
 * A leading thread receives frames without polling the channels of this host's processes in each cycle, which would
 * need system calls.
 */
@Timeout(60)
class LeaderInputTest {
    private static final int FRAMES = 1000;
    private static final long WAIT_NANOS = 10_000_000;

    @Test
    void whileThereIsInputTheChannelsArePolledRarely() {
        try (SoftStack stack = SoftStack.create()) {
            Engine engine = StackAccess.devices(stack).engine();
            BusyPort port = new BusyPort();
            engine.lock();
            try {
                engine.addPort(port);
            } finally {
                engine.unlock();
            }
            boolean isOver;
            do { // the background thread may lead, and does not know the condition
                isOver = engine.driveUntil(new Waiter(), () -> port.frames == FRAMES, engine.nanoTime() + WAIT_NANOS);
            } while (!isOver);
            assertThat(port.channelPolls).isLessThan(FRAMES / 100);
        }
    }

    /** A port that has one frame in each cycle. */
    private static final class BusyPort extends Port {
        private volatile int frames;
        private volatile int channelPolls;

        BusyPort() {
            super(InetAddress.getLoopbackAddress());
        }

        @Override
        @SuppressWarnings("NonAtomicVolatileUpdate") // under the engine lock
        public int receive(long nowNanos, boolean all) {
            if (frames == FRAMES) {
                return 0;
            }
            frames++;
            if (all) {
                channelPolls++;
            }
            return 1;
        }

        @Override
        public int receiveStray(long nowNanos) {
            return 0;
        }

        @Override
        public long nextDeadlineNanos() {
            return frames == FRAMES ? Long.MAX_VALUE : 0; // the leader does not block before all frames are received
        }

        @Override
        public Link link() {
            throw new AssertionError("nothing is sent");
        }
    }
}

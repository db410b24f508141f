package io.rdma4j.acceptance.traffic;

import io.rdma4j.verbs.MemoryRegion;
import io.rdma4j.verbs.SendWorkRequest;
import io.rdma4j.verbs.WorkCompletion;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.function.BooleanSupplier;

/**
 * WRITEs of one length to an {@link Answerer} or a {@link PassiveTarget}, as many outstanding as the send queue holds.
 * Not thread safe.
 */
public final class WriteStream implements AutoCloseable {
    private static final int OUTSTANDING = 64;
    private static final Duration WAIT_LIMIT = Duration.ofSeconds(40);

    private final TrafficSide side;
    private final MemoryRegion text;
    private final int lengthBytes;
    private final SendWorkRequest request = new SendWorkRequest();
    private final WorkCompletion[] batch = WorkCompletion.array(OUTSTANDING);
    private long posted;
    private long completed;
    private String wrong = "";

    /**
     * Connects.
     *
     * @throws io.rdma4j.verbs.RdmaException if connecting fails
     */
    public WriteStream(InetSocketAddress from, InetSocketAddress to, int ackTimeout, int lengthBytes) {
        this.lengthBytes = lengthBytes;
        side = TrafficSide.connect(
                from, to, TrafficSide.Shape.of(OUTSTANDING, 1, 4096).withAckTimeout(ackTimeout));
        text = new MessagePattern().register(side.domain());
    }

    /** Returns the connection. */
    public TrafficSide side() {
        return side;
    }

    /** Returns the first error; empty if there was none. */
    public String wrong() {
        return wrong;
    }

    /** Returns the number of completed WRITEs. */
    public long completed() {
        return completed;
    }

    /** Writes {@code count} more messages, until an error. Returns whether there was none. */
    public boolean write(long count) {
        long until = posted + count;
        return write(() -> posted < until);
    }

    /** Writes messages for a time, until an error. Returns whether there was none. */
    public boolean writeFor(Duration time) {
        long begin = System.nanoTime();
        return write(() -> System.nanoTime() - begin < time.toNanos());
    }

    private boolean write(BooleanSupplier hasMore) {
        while (wrong.isEmpty() && (hasMore.getAsBoolean() || completed < posted)) {
            while (posted - completed < OUTSTANDING && hasMore.getAsBoolean()) {
                long slots = side.remoteBytes() / lengthBytes;
                side.queuePair()
                        .postSend(request.reset(posted)
                                .from(text, MessagePattern.offset(posted), lengthBytes)
                                .write(side.remoteAddress() + posted % slots * lengthBytes, side.remoteKey())
                                .signaled());
                posted++;
            }
            int polled = side.await(batch, WAIT_LIMIT);
            if (polled == 0) {
                wrong = side.silence(WAIT_LIMIT);
            }
            for (int i = 0; i < polled && wrong.isEmpty(); i++) {
                if (!batch[i].isSuccess()) {
                    wrong = side.failure(batch[i]);
                } else if (batch[i].id() != completed) {
                    wrong = "expected completion " + completed + ", got " + batch[i];
                }
                completed++;
            }
        }
        return wrong.isEmpty();
    }

    @Override
    public void close() {
        text.close();
        side.close();
    }
}

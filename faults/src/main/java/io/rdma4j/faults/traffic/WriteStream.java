package io.rdma4j.faults.traffic;

import io.rdma4j.verbs.MemoryRegion;
import io.rdma4j.verbs.SendWorkRequest;
import io.rdma4j.verbs.WorkCompletion;
import java.net.InetSocketAddress;
import java.time.Duration;

/** Writes of one length, as many outstanding as the send queue holds, to an {@link Answerer} or a {@link PassiveTarget}. Not thread safe. */
public final class WriteStream implements AutoCloseable {
    private static final int OUTSTANDING = 64;
    private static final Duration PATIENCE = Duration.ofSeconds(40);

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
     * @throws io.rdma4j.verbs.RdmaException if that fails
     */
    public WriteStream(InetSocketAddress from, InetSocketAddress to, int ackTimeout, int lengthBytes) {
        this.lengthBytes = lengthBytes;
        side = TrafficSide.connect(
                from, to, TrafficSide.Shape.of(OUTSTANDING, 1, 4096).withAckTimeout(ackTimeout));
        text = new MessagePattern().register(side.domain());
    }

    /** The connection. */
    public TrafficSide side() {
        return side;
    }

    /** The first thing that was wrong; empty if nothing was. */
    public String wrong() {
        return wrong;
    }

    /** Writes that were completed. */
    public long completed() {
        return completed;
    }

    /** Writes {@code count} messages more, unless something goes wrong; whether nothing has. */
    public boolean write(long count) {
        long until = posted + count;
        while (completed < until && wrong.isEmpty()) {
            while (posted < until && posted - completed < OUTSTANDING) {
                long places = side.remoteBytes() / lengthBytes;
                side.queuePair()
                        .postSend(request.reset(posted)
                                .from(text, MessagePattern.offset(posted), lengthBytes)
                                .write(side.remoteAddress() + posted % places * lengthBytes, side.remoteKey())
                                .signaled());
                posted++;
            }
            int some = side.await(batch, PATIENCE);
            if (some == 0) {
                wrong = side.silence(PATIENCE);
            }
            for (int i = 0; i < some && wrong.isEmpty(); i++) {
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

package io.rdma4j.acceptance.traffic;

import io.rdma4j.verbs.MemoryRegion;
import io.rdma4j.verbs.SendWorkRequest;
import io.rdma4j.verbs.WorkCompletion;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.time.Duration;

/**
 * WRITEs with the numbers 1, 2, 3 and so on, each into the slot of its number in the peer's memory. The number of the last one that
 * was acknowledged is kept in memory that outlives the writer. Not thread safe.
 */
public final class NumberedWrites {
    /** Size of a message. It has several packets. */
    private static final int MESSAGE_BYTES = 3072;

    private static final int SLOTS = 64;

    /** Less than {@link #SLOTS}, so that at most one message for a slot is unacknowledged. */
    private static final int OUTSTANDING = 32;

    /** Size of the peer's memory, and of this side's region. */
    public static final long BYTES = (long) SLOTS * MESSAGE_BYTES;

    private static final Duration WAIT_LIMIT = Duration.ofSeconds(60);

    private final TrafficSide side;
    private final MemorySegment acknowledged;
    private final boolean polls;
    private final SendWorkRequest request = new SendWorkRequest();
    private final WorkCompletion[] batch = WorkCompletion.array(OUTSTANDING);
    private long posted;
    private long completed;

    /**
     * Creates the writer.
     *
     * @param side a connection whose send queue has the capacity {@link #shape}, and whose regions have {@link #BYTES}
     * @param acknowledged eight bytes for the number of the last acknowledged WRITE
     * @param polls true to poll for completions, false to wait for events
     */
    public NumberedWrites(TrafficSide side, MemorySegment acknowledged, boolean polls) {
        this.side = side;
        this.acknowledged = acknowledged;
        this.polls = polls;
    }

    /** Returns the shape of both sides. */
    public static TrafficSide.Shape shape() {
        return TrafficSide.Shape.of(OUTSTANDING, 4, BYTES);
    }

    /**
     * Writes until it has written a number of messages in total, or until an error, which it returns; an empty text if
     * there is none.
     */
    public String write(long until) {
        while (completed < until) {
            while (posted < until && posted - completed < OUTSTANDING) {
                post();
            }
            int count = await();
            if (count == 0) {
                return side.silence(WAIT_LIMIT);
            }
            for (int i = 0; i < count; i++) {
                if (!batch[i].isSuccess()) {
                    return batch[i].status().name();
                }
                if (batch[i].id() != completed + 1) {
                    return "expected completion " + (completed + 1) + ", got " + batch[i];
                }
                completed++;
            }
            acknowledged.set(ValueLayout.JAVA_LONG, 0, completed);
        }
        return "";
    }

    private void post() {
        long number = ++posted;
        long at = number % SLOTS * MESSAGE_BYTES;
        MemoryRegion region = side.region();
        for (int i = 0; i < MESSAGE_BYTES; i += Long.BYTES) {
            region.memory().set(ValueLayout.JAVA_LONG, at + i, content(number, i));
        }
        side.queuePair()
                .postSend(request.reset(number)
                        .from(region, at, MESSAGE_BYTES)
                        .write(side.remoteAddress() + at, side.remoteKey())
                        .signaled());
    }

    private int await() {
        if (!polls) {
            return side.await(batch, WAIT_LIMIT);
        }
        long begin = System.nanoTime();
        int count = side.completions().poll(batch);
        while (count == 0 && System.nanoTime() - begin < WAIT_LIMIT.toNanos()) {
            Thread.onSpinWait();
            count = side.completions().poll(batch);
        }
        return count;
    }

    private static long content(long number, long offset) {
        return number == 0 ? 0 : number << 16 | offset;
    }

    /**
     * Checks memory that numbers were written to.
     *
     * @param last the last number that was acknowledged
     * @return the first number that is missing or wrong, in words; an empty text if every number up to the last one has arrived
     */
    public static String check(MemorySegment memory, long last) {
        for (int slot = 0; slot < SLOTS; slot++) {
            long newest = Math.max(0, last - Math.floorMod(last - slot, SLOTS));
            long next = newest == 0 && slot > last ? slot : newest + SLOTS; // may have arrived, completely or in part
            boolean mayHaveArrived = next <= last + OUTSTANDING;
            for (int i = 0; i < MESSAGE_BYTES; i += Long.BYTES) {
                long found = memory.get(ValueLayout.JAVA_LONG, (long) slot * MESSAGE_BYTES + i);
                if (found != content(newest, i) && !(mayHaveArrived && found == content(next, i))) {
                    return "acknowledged up to %d, but in slot %d at %d is %x instead of number %d"
                            .formatted(last, slot, i, found, newest);
                }
            }
        }
        return "";
    }
}

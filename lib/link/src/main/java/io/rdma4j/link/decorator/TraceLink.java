package io.rdma4j.link.decorator;

import io.rdma4j.link.ForwardingLink;
import io.rdma4j.link.Link;
import io.rdma4j.link.ReceiveBurst;
import io.rdma4j.link.SendBurst;
import io.rdma4j.link.internal.SourceAddress;
import io.rdma4j.wire.Frame;
import io.rdma4j.wire.dissector.Dissector;
import java.util.function.Consumer;
import java.util.function.LongSupplier;

/**
 * Writes one line for each frame of a link, with its time, direction and contents.
 *
 * <pre>
 *      0.001204 out 10.88.0.1 &gt; 10.88.0.2 RC_SEND_ONLY qp 0x11 psn 178919 ackreq len 16
 * </pre>
 */
public final class TraceLink extends ForwardingLink {
    private static final long NANOS_PER_MICRO = 1_000;
    private static final long MICROS_PER_SECOND = 1_000_000;
    private static final int TIME_COLUMNS = 12;

    private final LongSupplier nanoClock;
    private final long startNanos;
    private final Consumer<String> lines;
    private final SourceAddress source;

    /**
     * Wraps a link.
     *
     * @param inner the link to trace
     * @param nanoClock returns the time of each frame, in nanoseconds
     * @param startNanos the clock's time that the printed times are relative to
     * @param lines receives each line, without a line end
     */
    public TraceLink(Link inner, LongSupplier nanoClock, long startNanos, Consumer<String> lines) {
        super(inner);
        this.nanoClock = nanoClock;
        this.startNanos = startNanos;
        this.lines = lines;
        this.source = new SourceAddress(inner);
    }

    @Override
    public void send(SendBurst burst) {
        for (int i = 0; i < burst.count(); i++) {
            trace(" out ", source.complete(burst, i));
        }
        inner.send(burst);
    }

    @Override
    public int poll(ReceiveBurst burst) {
        int count = inner.poll(burst);
        for (int i = 0; i < count; i++) {
            trace(" in  ", burst.frame(i));
        }
        return count;
    }

    private void trace(String direction, Frame frame) {
        lines.accept(line(nanoClock.getAsLong() - startNanos, direction, frame));
    }

    /**
     * Returns the line of a frame.
     *
     * @param nanos the time of the frame, in nanoseconds
     * @param event the event of the frame, between spaces
     */
    public static String line(long nanos, String event, Frame frame) {
        long micros = nanos / NANOS_PER_MICRO;
        String fraction = String.valueOf(MICROS_PER_SECOND + micros % MICROS_PER_SECOND);
        String time = micros / MICROS_PER_SECOND + "." + fraction.substring(1);
        return " ".repeat(Math.max(0, TIME_COLUMNS - time.length())) + time + event + Dissector.line(frame);
    }
}

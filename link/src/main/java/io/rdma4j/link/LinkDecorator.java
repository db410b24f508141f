package io.rdma4j.link;

import java.io.IOException;
import java.util.function.Consumer;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/**
 * Puts capture, trace and faults around links as {@link LinkOptions} say. One decorator serves all links of a process,
 * which share its capture file; close it after them.
 *
 * <p>From the wire inwards: capture, trace, faults. So capture and trace show what is on the wire: a frame that the faults
 * lose on its way out is not in the capture, one that they lose on its way in is.
 */
public final class LinkDecorator implements AutoCloseable {
    private final LinkOptions options;
    private final LongSupplier nanoClock;
    private final long startNanos;
    private final Consumer<String> lines;
    private final @Nullable PcapngWriter writer;

    /**
     * Creates a decorator, and the capture file if there shall be one.
     *
     * @param options what to put around links
     * @param nanoClock monotonic clock of faults and traced lines, such as {@link System#nanoTime}
     * @param epochNanos time of captured packets, in nanoseconds since 1970
     * @param lines takes the lines of the trace, and one when the capture's file cannot be written any more, from the
     *     thread that drives the link
     * @throws IOException if the capture file cannot be written
     */
    public LinkDecorator(LinkOptions options, LongSupplier nanoClock, LongSupplier epochNanos, Consumer<String> lines)
            throws IOException {
        this.options = options;
        this.nanoClock = nanoClock;
        this.startNanos = nanoClock.getAsLong();
        this.lines = lines;
        this.writer =
                options.captureFile() == null ? null : PcapngWriter.create(options.captureFile(), epochNanos, lines);
    }

    /** The link with all that the options ask for around it. */
    public Link decorate(Link link) {
        Link decorated = link;
        if (writer != null) {
            decorated = new CaptureLink(decorated, writer);
        }
        if (options.trace()) {
            decorated = new TraceLink(decorated, nanoClock, startNanos, lines);
        }
        if (options.faults() != null) {
            decorated = new FaultLink(decorated, options.faults(), nanoClock);
        }
        return decorated;
    }

    /** Whether there is a capture. */
    public boolean captures() {
        return writer != null;
    }

    /**
     * Ends the capture. The links may work on, without one.
     *
     * @throws IOException if packets are missing in it because the file could not be written, or the system says only now
     *     that it could not
     */
    @Override
    public void close() throws IOException {
        if (writer != null) {
            writer.close();
        }
    }
}

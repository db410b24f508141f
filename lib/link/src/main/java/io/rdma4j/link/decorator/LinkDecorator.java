package io.rdma4j.link.decorator;

import io.rdma4j.link.Link;
import java.io.IOException;
import java.util.function.Consumer;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/**
 * Adds capture, trace and faults to links as requested by {@link LinkOptions}. One decorator serves all links of a
 * process, which share its capture file. It must be closed after them.
 *
 * <p>The layers from the wire inwards are capture, trace, faults, so capture and trace show the frames on the wire. An
 * outbound frame that the faults drop is not in the capture. An inbound frame that they drop is.
 */
public final class LinkDecorator implements AutoCloseable {
    private final LinkOptions options;
    private final LongSupplier nanoClock;
    private final long startNanos;
    private final Consumer<String> lines;
    private final @Nullable PcapngWriter writer;

    /**
     * Creates a decorator, and the capture file if the options name one.
     *
     * @param options the layers to add to links
     * @param nanoClock monotonic clock for faults and trace lines, such as {@link System#nanoTime}
     * @param epochNanos clock for captured packets, in nanoseconds since 1970
     * @param lines receives the trace lines, and one line if writing the capture file fails; called by the thread that
     *     drives the link
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

    /** Returns the link wrapped in the layers that the options name. */
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

    /** Returns whether links get any layer. */
    public boolean decorates() {
        return writer != null || options.trace() || options.faults() != null;
    }

    /** Returns whether frames to processes of this host may go through shared memory. */
    public boolean allowsSharedMemory() {
        return options.sharedMemory();
    }

    /** Returns whether there is a capture. */
    public boolean captures() {
        return writer != null;
    }

    /**
     * Closes the capture. The links may still be used, without a capture.
     *
     * @throws IOException if packets are missing from it because the file could not be written, or if closing the file fails
     */
    @Override
    public void close() throws IOException {
        if (writer != null) {
            writer.close();
        }
    }
}

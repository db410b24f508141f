package io.rdma4j.link;

import java.nio.file.Path;
import org.jspecify.annotations.Nullable;

/**
 * What to put around the links of a process: the tools' options {@code --pcap FILE}, {@code --fault SPEC} and {@code
 * --trace}. Immutable.
 *
 * @param captureFile where to write a packet capture, or null for none
 * @param faults faults to put on the frames, or null for none
 * @param trace whether to write one line per frame
 */
public record LinkOptions(
        @Nullable Path captureFile, @Nullable FaultSpec faults, boolean trace) {
    /** System property with the name of the file for a packet capture. */
    public static final String CAPTURE_PROPERTY = "rdma4j.pcap";

    /** System property with a {@link FaultSpec}. */
    public static final String FAULT_PROPERTY = "rdma4j.fault";

    /** System property that is {@code true} for a line per frame. */
    public static final String TRACE_PROPERTY = "rdma4j.trace";

    /** Links as they are. */
    public static final LinkOptions NONE = new LinkOptions(null, null, false);

    /**
     * Options of the system properties {@value #CAPTURE_PROPERTY}, {@value #FAULT_PROPERTY} and {@value
     * #TRACE_PROPERTY}.
     *
     * @throws IllegalArgumentException if a value is not of the right form; the message names the property
     */
    public static LinkOptions fromSystemProperties() {
        LinkOptions options = NONE;
        String name = CAPTURE_PROPERTY;
        try {
            String capture = System.getProperty(name);
            options = capture == null ? options : options.withCaptureFile(Path.of(capture));
            name = FAULT_PROPERTY;
            String faults = System.getProperty(name);
            options = faults == null ? options : options.withFaults(FaultSpec.parse(faults));
        } catch (IllegalArgumentException e) {
            throw new IllegalArgumentException("system property " + name + ": " + e.getMessage(), e);
        }
        return Boolean.getBoolean(TRACE_PROPERTY) ? options.withTrace() : options;
    }

    /** These options with a packet capture to {@code file}. */
    public LinkOptions withCaptureFile(Path file) {
        return new LinkOptions(file, faults, trace);
    }

    /** These options with faults. */
    public LinkOptions withFaults(FaultSpec spec) {
        return new LinkOptions(captureFile, spec, trace);
    }

    /** These options with a line per frame. */
    public LinkOptions withTrace() {
        return new LinkOptions(captureFile, faults, true);
    }
}

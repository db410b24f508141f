package io.rdma4j.link.decorator;

import java.nio.file.Path;
import org.jspecify.annotations.Nullable;

/**
 * The capture, trace and faults to add to the links of a process: the tools' options {@code --pcap FILE}, {@code
 * --fault SPEC} and {@code --trace}. Immutable.
 *
 * @param captureFile the packet capture to write, or null for none
 * @param faults the faults to inject into frames, or null for none
 * @param trace true to write one line per frame
 * @param sharedMemory false to send frames by UDP even to processes of this host
 */
public record LinkOptions(
        @Nullable Path captureFile, @Nullable FaultSpec faults, boolean trace, boolean sharedMemory) {
    /** System property that is {@code off} to send frames by UDP even to processes of this host. */
    public static final String SHARED_MEMORY_PROPERTY = "rdma4j.shared-memory";

    /** Environment variable that decides if {@link #SHARED_MEMORY_PROPERTY} is not set. */
    public static final String SHARED_MEMORY_VARIABLE = "RDMA4J_SHARED_MEMORY";

    /** System property with the name of the packet capture file, in which {@code %p} is replaced by the process ID. */
    public static final String CAPTURE_PROPERTY = "rdma4j.pcap";

    /** System property with a {@link FaultSpec}. */
    public static final String FAULT_PROPERTY = "rdma4j.fault";

    /** System property that is {@code true} to write one line per frame. */
    public static final String TRACE_PROPERTY = "rdma4j.trace";

    /** No capture, faults or trace. */
    public static final LinkOptions NONE = new LinkOptions(null, null, false, true);

    /**
     * Returns the options given by the system properties {@value #CAPTURE_PROPERTY}, {@value #FAULT_PROPERTY},
     * {@value #TRACE_PROPERTY} and {@value #SHARED_MEMORY_PROPERTY}, or the environment variable {@value #SHARED_MEMORY_VARIABLE}.
     *
     * @throws IllegalArgumentException if a value is malformed; the message names the property
     */
    public static LinkOptions fromSystemProperties() {
        LinkOptions options = NONE;
        String name = CAPTURE_PROPERTY;
        try {
            String capture = System.getProperty(name);
            options = capture == null ? options : options.withCaptureFile(captureFile(capture));
            name = FAULT_PROPERTY;
            String faults = System.getProperty(name);
            options = faults == null ? options : options.withFaults(FaultSpec.parse(faults));
        } catch (IllegalArgumentException e) {
            throw new IllegalArgumentException("system property " + name + ": " + e.getMessage(), e);
        }
        if (!sharesMemory(System.getProperty(SHARED_MEMORY_PROPERTY), System.getenv(SHARED_MEMORY_VARIABLE))) {
            options = options.withoutSharedMemory();
        }
        return Boolean.getBoolean(TRACE_PROPERTY) ? options.withTrace() : options;
    }

    /** Returns the file with a name, in which {@code %p} is replaced by the ID of this process, like in Java's options. */
    static Path captureFile(String name) {
        return Path.of(name.replace("%p", Long.toString(ProcessHandle.current().pid())));
    }

    /** Returns whether memory is shared, according to the values of the property and of the environment variable; each may be null. */
    static boolean sharesMemory(@Nullable String property, @Nullable String variable) {
        boolean isByVariable = property == null && variable != null;
        String value = isByVariable ? variable : property;
        return switch (value) {
            case null -> true;
            case "on" -> true;
            case "off" -> false;
            default ->
                throw new IllegalArgumentException("%s: \"%s\" is neither on nor off"
                        .formatted(
                                isByVariable
                                        ? "environment variable " + SHARED_MEMORY_VARIABLE
                                        : "system property " + SHARED_MEMORY_PROPERTY,
                                value));
        };
    }

    /** Returns these options without shared memory. */
    public LinkOptions withoutSharedMemory() {
        return new LinkOptions(captureFile, faults, trace, false);
    }

    /** Returns these options with a packet capture to {@code file}. */
    public LinkOptions withCaptureFile(Path file) {
        return new LinkOptions(file, faults, trace, sharedMemory);
    }

    /** Returns these options with the given faults. */
    public LinkOptions withFaults(FaultSpec spec) {
        return new LinkOptions(captureFile, spec, trace, sharedMemory);
    }

    /** Returns these options with a trace of one line per frame. */
    public LinkOptions withTrace() {
        return new LinkOptions(captureFile, faults, true, sharedMemory);
    }
}

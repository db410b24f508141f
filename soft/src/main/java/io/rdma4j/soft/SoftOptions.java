package io.rdma4j.soft;

import io.rdma4j.link.LinkOptions;
import org.jspecify.annotations.Nullable;

/**
 * Capture, faults and trace of the software device of this process, and how it guards itself. They are read once, when the
 * device is first used; what is not set here comes from the system properties that {@link LinkOptions} and {@link
 * SecurityOptions} name. Thread safe.
 */
public final class SoftOptions {
    private static @Nullable LinkOptions configured;
    private static @Nullable SecurityOptions guards;
    private static boolean settled;

    private SoftOptions() {}

    /**
     * Sets the options of this process.
     *
     * @throws IllegalStateException if the software device is in use already
     */
    public static synchronized void configure(LinkOptions options) {
        requireUnsettled();
        configured = options;
    }

    /**
     * Sets how this process guards itself, instead of what the system property {@value SecurityOptions#PROPERTY} says.
     *
     * @throws IllegalStateException if the software device is in use already
     */
    public static synchronized void configure(SecurityOptions options) {
        requireUnsettled();
        guards = options;
    }

    private static void requireUnsettled() {
        if (settled) {
            throw new IllegalStateException("the software device is in use: its options must be set before");
        }
    }

    /**
     * How this process guards itself, from now on fixed.
     *
     * @throws IllegalArgumentException if the system property is not of the right form
     */
    public static synchronized SecurityOptions settleSecurity() {
        settled = true;
        SecurityOptions set = guards;
        if (set == null) {
            set = SecurityOptions.fromSystemProperty();
            guards = set;
        }
        return set;
    }

    /**
     * The options of this process, from now on fixed.
     *
     * @throws IllegalArgumentException if a system property is not of the right form
     */
    public static synchronized LinkOptions settle() {
        settled = true;
        LinkOptions set = configured == null ? LinkOptions.NONE : configured;
        LinkOptions properties = LinkOptions.fromSystemProperties();
        return new LinkOptions(
                set.captureFile() != null ? set.captureFile() : properties.captureFile(),
                set.faults() != null ? set.faults() : properties.faults(),
                set.trace() || properties.trace());
    }
}

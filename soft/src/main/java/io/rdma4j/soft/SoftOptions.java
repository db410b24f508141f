package io.rdma4j.soft;

import io.rdma4j.link.LinkOptions;
import org.jspecify.annotations.Nullable;

/**
 * Capture, faults and trace of the software device of this process. They are read once, when the device is first used;
 * what is not set here comes from the system properties that {@link LinkOptions} names. Thread safe.
 */
public final class SoftOptions {
    private static @Nullable LinkOptions configured;
    private static boolean settled;

    private SoftOptions() {}

    /**
     * Sets the options of this process.
     *
     * @throws IllegalStateException if the software device is in use already
     */
    public static synchronized void configure(LinkOptions options) {
        if (settled) {
            throw new IllegalStateException("the software device is in use: its options must be set before");
        }
        configured = options;
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

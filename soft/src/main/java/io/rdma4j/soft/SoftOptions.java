package io.rdma4j.soft;

import io.rdma4j.link.LinkOptions;
import io.rdma4j.soft.device.SoftDevices;
import io.rdma4j.verbs.Errno;
import io.rdma4j.verbs.RdmaException;
import java.io.IOException;
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
     * @throws RdmaException {@code EINVAL} if the system property is not of the right form; nothing is fixed then
     */
    public static synchronized SecurityOptions settleSecurity() {
        SecurityOptions set = guards;
        if (set == null) {
            try {
                set = SecurityOptions.fromSystemProperty();
            } catch (IllegalArgumentException wrong) {
                throw refusal(wrong);
            }
            guards = set;
        }
        settled = true;
        return set;
    }

    /** What the caller is told of an option that is not of the right form. */
    public static RdmaException refusal(IllegalArgumentException wrong) {
        return new RdmaException(
                "ibv_open_device",
                Errno.EINVAL,
                String.valueOf(wrong.getMessage()),
                "Correct the option, or leave it out",
                wrong);
    }

    /**
     * The options of this process, from now on fixed.
     *
     * @throws RdmaException {@code EINVAL} if a system property is not of the right form; nothing is fixed then
     */
    public static synchronized LinkOptions settle() {
        LinkOptions set = configured == null ? LinkOptions.NONE : configured;
        LinkOptions properties;
        try {
            properties = LinkOptions.fromSystemProperties();
        } catch (IllegalArgumentException wrong) {
            throw refusal(wrong);
        }
        settled = true;
        return new LinkOptions(
                set.captureFile() != null ? set.captureFile() : properties.captureFile(),
                set.faults() != null ? set.faults() : properties.faults(),
                set.trace() || properties.trace());
    }

    /**
     * Ends the capture of this process, if it has one: for the end of the process, where nobody else would hear of a failure.
     * Packets from then on are not in it. Where there is none, or it has ended, this does nothing.
     *
     * @throws IOException if packets are missing in it because the file could not be written, or the system says only now
     *     that it could not
     */
    public static void closeCapture() throws IOException {
        SoftDevices.closeCapture();
    }
}

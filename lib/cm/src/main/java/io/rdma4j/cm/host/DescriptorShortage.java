package io.rdma4j.cm.host;

import io.rdma4j.verbs.Errno;
import java.util.Locale;
import org.jspecify.annotations.Nullable;

/**
 * Recognizes failures for lack of file descriptors. It searches for the system's error text in the messages of the JDK
 * and of the module {@code link}. Such a failure does not mean that the file or route of the call does not exist.
 */
public final class DescriptorShortage {
    /** The remedy, for messages. */
    public static final String HINT =
            "Close files and sockets that are not needed, or raise the limit of open files (ulimit -n)";

    private static final String TEXT = Errno.EMFILE.text().toLowerCase(Locale.ROOT);

    private DescriptorShortage() {}

    /** Returns whether an exception, or one of its causes, was caused by a lack of file descriptors. */
    public static boolean isCauseOf(Throwable failure) {
        @Nullable Throwable at = failure;
        for (int depth = 0; at != null && depth < 10; depth++) {
            if (String.valueOf(at.getMessage()).toLowerCase(Locale.ROOT).contains(TEXT)) {
                return true;
            }
            at = at.getCause();
        }
        return false;
    }
}

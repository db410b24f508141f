package io.rdma4j.soft.share;

import io.rdma4j.verbs.Errno;
import io.rdma4j.verbs.RdmaException;
import java.io.IOException;
import java.util.Locale;

/**
 * What the caller is told when the system refuses something that an operation needs.
 *
 * <p>Of the causes only the lack of file descriptors is told apart, by the words that the JDK and our links take from the
 * system, since it is the one that passes by itself, that every operation can meet, and that has one remedy.
 */
public final class SystemFailure {
    private static final String NO_DESCRIPTORS = Errno.EMFILE.text().toLowerCase(Locale.ROOT);

    private SystemFailure() {}

    /**
     * The exception of an operation.
     *
     * @param operation the operation, by its C name
     * @param doing what was being done, with its objects
     * @param cause what the system said
     * @param hint what to try, unless descriptors are lacking
     * @return with {@link Errno#EMFILE} if descriptors are lacking, else {@link Errno#EIO}
     */
    public static RdmaException of(String operation, String doing, IOException cause, String hint) {
        boolean exhausted = lacksDescriptors(cause);
        return new RdmaException(
                operation,
                exhausted ? Errno.EMFILE : Errno.EIO,
                doing + ": " + cause.getMessage(),
                exhausted ? "Close what is not needed, or raise the limit of open files (ulimit -n)" : hint,
                cause);
    }

    /** Whether a failure is for want of file descriptors. */
    public static boolean lacksDescriptors(IOException failure) {
        return String.valueOf(failure.getMessage()).toLowerCase(Locale.ROOT).contains(NO_DESCRIPTORS);
    }
}

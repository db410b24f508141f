package io.rdma4j.soft.host;

import io.rdma4j.cm.host.DescriptorShortage;
import io.rdma4j.sharing.SharingException;
import io.rdma4j.verbs.Errno;
import io.rdma4j.verbs.RdmaException;
import java.io.IOException;

/**
 * Creates the exception for an operation that failed because the system refused something it needs.
 *
 * <p>The only cause that is distinguished is the lack of file descriptors, recognized by the system's error text in the messages
 * of the JDK and of this project's links. It is transient, any operation can encounter it, and it has one remedy.
 */
public final class SystemFailure {
    private SystemFailure() {}

    /**
     * Creates the exception of an operation.
     *
     * @param operation the operation, by its C name
     * @param doing the failed step, with its objects
     * @param cause the exception of the system call
     * @param hint advice for the caller, used unless descriptors are lacking
     * @return with {@link Errno#EMFILE} if descriptors are lacking, otherwise {@link Errno#EIO}
     */
    public static RdmaException of(String operation, String doing, IOException cause, String hint) {
        boolean exhausted = lacksDescriptors(cause);
        return new RdmaException(
                operation,
                exhausted ? Errno.EMFILE : Errno.EIO,
                doing + ": " + cause.getMessage(),
                exhausted ? DescriptorShortage.HINT : hint,
                cause);
    }

    /**
     * Creates the exception of an operation that failed because sharing with other processes was refused.
     *
     * @param operation the operation, by its C name
     */
    public static RdmaException of(String operation, SharingException refusal) {
        Throwable cause = refusal.getCause();
        if (refusal.reason() == SharingException.Reason.SYSTEM && cause instanceof IOException failure) {
            return of(operation, refusal.details(), failure, refusal.hint());
        }
        return cause == null
                ? new RdmaException(operation, errno(refusal), refusal.details(), refusal.hint())
                : new RdmaException(operation, errno(refusal), refusal.details(), refusal.hint(), cause);
    }

    /** Returns the error of a refusal by name. */
    public static Errno errno(SharingException refusal) {
        return switch (refusal.reason()) {
            case IN_USE -> Errno.EADDRINUSE;
            case UNAVAILABLE -> Errno.EADDRNOTAVAIL;
            case EXHAUSTED -> Errno.EAGAIN;
            case NO_ANSWER -> Errno.ETIMEDOUT;
            case UNTRUSTED -> Errno.EACCES;
            case SYSTEM -> Errno.EIO;
        };
    }

    /** Returns whether a failure was caused by a lack of file descriptors. */
    public static boolean lacksDescriptors(IOException failure) {
        return DescriptorShortage.isCauseOf(failure);
    }
}

package io.rdma4j.exec.bridge;

import io.rdma4j.verbs.Errno;
import io.rdma4j.verbs.RdmaException;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Supplier;

/** Converts exceptions to C error numbers. */
public final class Failures {
    /** True if stack traces are printed, for debugging: {@code -Drdma4j.exec.trace}. */
    private static final boolean TRACE = System.getProperty("rdma4j.exec.trace") != null;

    /** The reasons that were printed already. A program may try to open a device repeatedly. */
    private static final Set<String> REPORTED = ConcurrentHashMap.newKeySet();

    private Failures() {}

    /**
     * Opens a device or creates an identifier. If that fails, prints the reason to standard error, because an error
     * number does not identify the option that is wrong. Prints each reason once.
     */
    public static <T> T reporting(Supplier<T> open) {
        try {
            return open.get();
        } catch (RuntimeException failure) {
            String reason = String.valueOf(failure.getMessage());
            if (REPORTED.add(reason)) {
                System.err.println("rdma4j exec: " + reason);
            }
            throw failure;
        }
    }

    /** Returns the positive error number of an exception, and prints its stack trace if that is enabled. */
    public static int errno(Throwable failure) {
        if (TRACE) {
            failure.printStackTrace();
        }
        return of(failure).number();
    }

    private static Errno of(Throwable failure) {
        if (failure instanceof RdmaException known) {
            return known.errno();
        }
        if (failure instanceof OutOfMemoryError) {
            return Errno.ENOMEM;
        }
        boolean isArgument = failure instanceof IllegalArgumentException
                || failure instanceof IllegalStateException
                || failure instanceof IndexOutOfBoundsException;
        return isArgument ? Errno.EINVAL : Errno.EIO;
    }

    /** Returns the exception for an operation that the device does not support. */
    public static RdmaException unsupported(String operation, String details) {
        return new RdmaException(operation, Errno.EOPNOTSUPP, details, "");
    }

    /** Returns the exception for an invalid argument. */
    public static RdmaException invalid(String operation, String details) {
        return new RdmaException(operation, Errno.EINVAL, details, "");
    }
}

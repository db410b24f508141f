package io.rdma4j.exec.bridge;

import io.rdma4j.verbs.Errno;
import java.lang.foreign.Arena;
import java.nio.file.Path;
import org.jspecify.annotations.Nullable;

/**
 * Starts the guardian of the program: a small process without Java that disconnects the peers when the program ends for
 * any reason, like a kernel that closes the files of a process. The C library registers the native method before it
 * calls Java.
 */
public final class Guardian {
    /** The system property that disables the guardian if its value is {@code off}. */
    public static final String PROPERTY = "rdma4j.exec.guardian";

    private static final System.Logger LOGGER = System.getLogger(Guardian.class.getName());

    private Guardian() {}

    /**
     * Starts the guardian. The program continues without it if it cannot be started.
     *
     * @param table the file with the connections; null if there is none, because a kernel disconnects the peers
     */
    public static void start(@Nullable Path table) {
        if (table == null || System.getProperty(PROPERTY, "").equals("off")) {
            return;
        }
        try (Arena arena = Arena.ofConfined()) {
            int error = start(arena.allocateFrom(table.toString()).address());
            if (error != 0) {
                LOGGER.log(
                        System.Logger.Level.DEBUG,
                        "the guardian did not start: peers on other hosts are not notified if the program is killed: "
                                + Errno.of(error));
            }
        } catch (UnsatisfiedLinkError e) {
            // A test calls from Java: no C library has registered the method.
            return;
        }
    }

    private static native int start(long table);
}

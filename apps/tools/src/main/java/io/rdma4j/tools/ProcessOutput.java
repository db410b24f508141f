package io.rdma4j.tools;

import java.io.FileDescriptor;
import java.io.FileOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import org.jspecify.annotations.Nullable;

/**
 * Standard output or standard error of this process.
 *
 * <p>{@link java.io.PrintStream} swallows write failures. This stream ends the process when the reader closes a pipe,
 * like SIGPIPE in C, and retains other failures. It is as thread safe as {@link FileOutputStream}.
 */
final class ProcessOutput extends OutputStream {
    /** The exit status that a shell reports when SIGPIPE ends a process. */
    private static final int BROKEN_PIPE = 141;

    private static final int FILE_TYPE = 0xf000;
    private static final int NAMED_OR_UNNAMED_PIPE = 0x1000;
    private static final int SOCKET = 0xc000;

    private final FileOutputStream file;
    private final Path name;
    private volatile @Nullable IOException failure;

    /**
     * Creates a stream that writes to a file descriptor.
     *
     * @param descriptor the descriptor of standard output or standard error
     * @param number the number of the descriptor, by which the system names the file
     */
    ProcessOutput(FileDescriptor descriptor, int number) {
        file = new FileOutputStream(descriptor);
        name = Path.of("/dev/fd/" + number);
    }

    @Override
    public void write(int oneByte) throws IOException {
        write(new byte[] {(byte) oneByte}, 0, 1);
    }

    @Override
    public void write(byte[] bytes, int offset, int length) throws IOException {
        try {
            file.write(bytes, offset, length);
        } catch (IOException e) {
            if (failure == null) {
                failure = e;
                if (isPipe()) {
                    // In another thread, because the shutdown hooks may also print.
                    Thread.ofPlatform().daemon().name("rdma4j-pipe").start(() -> System.exit(BROKEN_PIPE));
                }
            }
            throw e;
        }
    }

    /** Returns the first write failure, or null. */
    @Nullable
    IOException failure() {
        return failure;
    }

    /** Returns the exit status of the process for a tool that has ended with {@code status}. */
    int status(int status) {
        if (failure == null) {
            return status;
        }
        return isPipe() ? BROKEN_PIPE : Math.max(status, 1);
    }

    private boolean isPipe() {
        try {
            int type = (Integer) Files.getAttribute(name, "unix:mode") & FILE_TYPE;
            return type == NAMED_OR_UNNAMED_PIPE || type == SOCKET;
        } catch (IOException | UnsupportedOperationException | IllegalArgumentException unknown) {
            return false;
        }
    }
}

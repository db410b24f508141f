package io.rdma4j.tools;

import java.io.FileDescriptor;
import java.io.FileOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import org.jspecify.annotations.Nullable;

/**
 * Standard output or standard error of this process. {@link java.io.PrintStream} says nothing when it cannot write; here the
 * process ends where nobody reads a pipe any more, as a process in C does by SIGPIPE, and other failures are kept. Thread
 * safe as far as {@link FileOutputStream} is.
 */
final class ProcessOutput extends OutputStream {
    /** Exit status as the shell sees it when SIGPIPE ends a process. */
    private static final int BROKEN_PIPE = 141;

    private static final int FILE_TYPE = 0xf000;
    private static final int NAMED_OR_UNNAMED_PIPE = 0x1000;
    private static final int SOCKET = 0xc000;

    private final FileOutputStream file;
    private final Path name;
    private volatile @Nullable IOException failure;

    /**
     * Writes to a descriptor.
     *
     * @param descriptor of standard output or standard error
     * @param number of the descriptor, by which the system names the file
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
                    // Elsewhere: the shutdown hooks may want to print, too.
                    Thread.ofPlatform().daemon().name("rdma4j-pipe").start(() -> System.exit(BROKEN_PIPE));
                }
            }
            throw e;
        }
    }

    /** Why it could not be written, or null. */
    @Nullable
    IOException failure() {
        return failure;
    }

    /** The exit status of the process, of a tool that has ended with {@code status}. */
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
        } catch (IOException | UnsupportedOperationException | IllegalArgumentException untold) {
            return false;
        }
    }
}

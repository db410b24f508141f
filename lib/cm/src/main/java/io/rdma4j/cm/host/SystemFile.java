package io.rdma4j.cm.host;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.SeekableByteChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;

/**
 * Reads files of {@code /proc} and {@code /sys}. The kernel generates their content when they are read.
 *
 * <p>The methods of {@link Files} that read or copy a whole file start with its size, which is 0 for these files.
 * {@link Files#readString} and {@link Files#readAllBytes} then read one byte first. For {@code /proc/sys}, the kernel
 * returns numbers only to the first read, so the result would be one digit.
 */
public final class SystemFile {
    private static final int FIRST_BYTES = 4096;

    private SystemFile() {}

    /**
     * Returns the content of a file, without leading and trailing white space.
     *
     * @throws java.nio.file.NoSuchFileException if the system has no such file
     * @throws IOException if the file cannot be read, for example for lack of descriptors
     */
    public static String read(Path file) throws IOException {
        try (SeekableByteChannel channel = Files.newByteChannel(file)) {
            ByteBuffer content = ByteBuffer.allocate(FIRST_BYTES);
            while (channel.read(content) > 0) {
                if (!content.hasRemaining()) {
                    content = ByteBuffer.allocate(2 * content.capacity()).put(content.flip());
                }
            }
            return StandardCharsets.UTF_8.decode(content.flip()).toString().strip();
        }
    }
}

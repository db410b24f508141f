package io.rdma4j.cm.host;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.SeekableByteChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;

/**
 * Reads files of {@code /proc} and {@code /sys}, whose content the kernel makes when they are read.
 *
 * <p>The methods of {@link Files} that read or copy a whole file begin with its size, which is 0 there. {@link Files#readString} and
 * {@link Files#readAllBytes} then read one byte first. The kernel gives the numbers of {@code /proc/sys} to the first read alone, so the
 * result is one digit.
 */
public final class SystemFile {
    private static final int FIRST_BYTES = 4096;

    private SystemFile() {}

    /**
     * Returns the content of a file without white space at both ends.
     *
     * @throws java.nio.file.NoSuchFileException if the system has no such file
     * @throws IOException if it cannot be read, as without descriptors: this says nothing about the content
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

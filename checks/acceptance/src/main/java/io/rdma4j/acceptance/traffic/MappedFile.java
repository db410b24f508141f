package io.rdma4j.acceptance.traffic;

import java.io.IOException;
import java.io.RandomAccessFile;
import java.io.UncheckedIOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.channels.FileChannel;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;

/** Memory that is a file: it keeps the bytes of a process that was killed, and other processes see them immediately. */
public final class MappedFile {
    private MappedFile() {}

    /** Creates a file of zeros, or replaces the content of one. */
    public static Path create(Path path, long bytes) throws IOException {
        try (RandomAccessFile file = new RandomAccessFile(path.toFile(), "rw")) {
            file.setLength(0);
            file.setLength(bytes);
        }
        return path;
    }

    /**
     * Maps a whole file for reading and writing.
     *
     * @throws UncheckedIOException if it cannot be mapped
     */
    public static MemorySegment map(Path path, Arena arena) {
        try (FileChannel channel = FileChannel.open(path, StandardOpenOption.READ, StandardOpenOption.WRITE)) {
            return channel.map(FileChannel.MapMode.READ_WRITE, 0, channel.size(), arena);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}

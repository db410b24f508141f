package io.rdma4j.sharing;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;

/** The files of a run directory that processes map into memory. Thread safe. */
sealed interface MappedFiles {
    /**
     * Creates a file of zeros, replacing one that another process has left, and maps it.
     *
     * @param bytes the size
     * @param allocatedBytes the number of bytes for which the file system has memory; see {@link #allocate}
     * @throws IOException if the file system refuses
     */
    MemorySegment create(String name, long bytes, long allocatedBytes) throws IOException;

    /**
     * Makes the file system provide memory for an unused part of a file. An access to a part without memory is a fault if the
     * file system is full.
     *
     * @return false if the file system is full
     */
    boolean allocate(String name, long from, long to);

    /**
     * Maps a file of another process. Only the parts that the other process has allocated may be accessed.
     *
     * @return null if the file does not exist, or has another size
     * @throws IOException if the file system refuses
     */
    @Nullable
    MemorySegment open(String name, long bytes) throws IOException;

    /** Removes a file; mappings stay valid. */
    void remove(String name);

    /** Files of the file system. */
    record OfSystem(Path directory) implements MappedFiles {
        private static final int CHUNK_BYTES = 1 << 16;

        @Override
        public MemorySegment create(String name, long bytes, long allocatedBytes) throws IOException {
            Path path = directory.resolve(name);
            Files.deleteIfExists(path);
            try (FileChannel file = FileChannel.open(
                    path, StandardOpenOption.CREATE_NEW, StandardOpenOption.READ, StandardOpenOption.WRITE)) {
                writeZeros(file, 0, allocatedBytes);
                return file.map(FileChannel.MapMode.READ_WRITE, 0, bytes, Arena.ofAuto());
            }
        }

        @Override
        public boolean allocate(String name, long from, long to) {
            try (FileChannel file = FileChannel.open(directory.resolve(name), StandardOpenOption.WRITE)) {
                writeZeros(file, from, to);
                return true;
            } catch (IOException e) {
                return false;
            }
        }

        private static void writeZeros(FileChannel file, long from, long to) throws IOException {
            ByteBuffer zeros = ByteBuffer.allocate((int) Math.min(CHUNK_BYTES, to - from));
            for (long at = from; at < to; ) {
                zeros.clear().limit((int) Math.min(zeros.capacity(), to - at));
                at += file.write(zeros, at);
            }
        }

        @Override
        public @Nullable MemorySegment open(String name, long bytes) throws IOException {
            Path path = directory.resolve(name);
            if (!Files.exists(path)) {
                return null;
            }
            try (FileChannel file = FileChannel.open(path, StandardOpenOption.READ, StandardOpenOption.WRITE)) {
                return file.size() == bytes ? file.map(FileChannel.MapMode.READ_WRITE, 0, bytes, Arena.ofAuto()) : null;
            }
        }

        @Override
        public void remove(String name) {
            try {
                Files.deleteIfExists(directory.resolve(name));
            } catch (IOException e) {
                // The next process with the slot removes it.
                return;
            }
        }
    }

    /**
     * Files of a virtual host, in the memory of this process. Their size is the number of bytes that are allocated at
     * their creation, and does not change.
     */
    record OfVirtualHost(Map<String, MemorySegment> files) implements MappedFiles {
        OfVirtualHost() {
            this(new ConcurrentHashMap<>());
        }

        @Override
        public MemorySegment create(String name, long bytes, long allocatedBytes) {
            MemorySegment memory = Arena.ofAuto().allocate(allocatedBytes, Long.BYTES);
            files.put(name, memory);
            return memory;
        }

        @Override
        public boolean allocate(String name, long from, long to) {
            return false;
        }

        @Override
        public @Nullable MemorySegment open(String name, long bytes) {
            return files.get(name);
        }

        @Override
        public void remove(String name) {
            files.remove(name);
        }
    }
}

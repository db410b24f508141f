package io.rdma4j.bench.raw;

import io.rdma4j.bench.worker.Control;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;

/** A file in memory that both processes of a measurement map. Its path is removed once both have mapped it. */
final class SharedFile {
    private static final Path MEMORY = Path.of("/dev/shm");

    private SharedFile() {}

    /** Creates and maps the file, on the passive side. */
    static MemorySegment create(Control control, Arena arena, long bytes) throws IOException {
        Path folder = Files.isWritable(MEMORY) ? MEMORY : Path.of(System.getProperty("java.io.tmpdir", "/tmp"));
        Path file = Files.createTempFile(folder, "rdma4j-bench", null);
        try (FileChannel channel = FileChannel.open(file, StandardOpenOption.READ, StandardOpenOption.WRITE)) {
            MemorySegment memory = channel.map(FileChannel.MapMode.READ_WRITE, 0, bytes, arena);
            control.send(0); // the active side expects a number first
            control.sendText(file.toString());
            control.awaitPeer();
            return memory;
        } finally {
            Files.delete(file);
        }
    }

    /** Maps the file, on the active side. */
    static MemorySegment open(Control control, Arena arena, long bytes) throws IOException {
        long _ = control.receive();
        Path file = Path.of(control.receiveText());
        try (FileChannel channel = FileChannel.open(file, StandardOpenOption.READ, StandardOpenOption.WRITE)) {
            MemorySegment memory = channel.map(FileChannel.MapMode.READ_WRITE, 0, bytes, arena);
            control.awaitPeer();
            return memory;
        }
    }
}

package io.rdma4j.soft.report;

import io.rdma4j.sharing.RunDirectory;
import io.rdma4j.soft.host.RunDirectories;
import java.io.FileDescriptor;
import java.io.FileOutputStream;
import java.io.IOException;
import java.net.UnixDomainSocketAddress;
import java.nio.channels.Channels;
import java.nio.channels.SocketChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.locks.LockSupport;

/** A process whose reports are requested while its heap is full. */
public final class FullHeapReaderProcess {
    static final int SLOT = 7;
    static final StackReport REPORT = new StackReport(4711, "org.example.Server", SLOT, List.of(), List.of(), 0);

    private static final Object[] NONE = {};
    private static final long FULL_NANOS = 2_000_000_000;

    private static volatile Object[] full = NONE;

    private FullHeapReaderProcess() {}

    /** Runs the process; the argument is the run directory. */
    public static void main(String[] arguments) throws IOException {
        RunDirectory directory = RunDirectories.at(Path.of(arguments[0]));
        byte[] text = "full\n".getBytes(StandardCharsets.UTF_8);
        FileOutputStream output = new FileOutputStream(FileDescriptor.out);
        try (ReportServer _ = ReportServer.start(directory, SLOT, () -> REPORT)) {
            byte[] _ = read(directory.file(ReportSockets.name(SLOT))); // loads the classes
            LockSupport.parkNanos(1);
            fill();
            output.write(text);
            LockSupport.parkNanos(FULL_NANOS);
            full = NONE;
            System.out.println("empty");
            byte[] _ = System.in.readAllBytes();
        }
    }

    /** Returns what the process sends to a reader. */
    static byte[] read(Path socket) throws IOException {
        try (SocketChannel reader = SocketChannel.open(UnixDomainSocketAddress.of(socket))) {
            return Channels.newInputStream(reader).readAllBytes();
        }
    }

    private static void fill() {
        int length = 1 << 20;
        while (length > 0) {
            try {
                Object[] next = new Object[length];
                next[0] = full;
                full = next;
            } catch (OutOfMemoryError noMore) {
                length /= 2;
            }
        }
    }
}

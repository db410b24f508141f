package io.rdma4j.soft;

import io.rdma4j.fixture.TestEndpoint;
import io.rdma4j.value.CompletionStatus;
import io.rdma4j.verbs.Device;
import io.rdma4j.verbs.MemoryRegion;
import io.rdma4j.verbs.SendWorkRequest;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.net.InetAddress;
import java.nio.channels.FileChannel;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;

/**
 * A process that maps a sparse file, larger than its file system, and writes to one page after the other by RDMA WRITEs
 * until one fails. It prints the status of that WRITE, and the state of another connection.
 */
public final class FullDiskProcess {
    private static final int PAGES = 1024;
    private static final int PAGE_BYTES = 4096;

    /** Enough for the second compiler. */
    private static final int WARM_UP = 30_000;

    private FullDiskProcess() {}

    /** Runs the process; the argument names a folder of a small file system. */
    public static void main(String[] arguments) throws IOException {
        InetAddress address = InetAddress.getLoopbackAddress();
        try (SoftStack stack = SoftStack.builder().withoutSharedMemory().build();
                FileChannel channel = FileChannel.open(
                        Path.of(arguments[0], "sparse"),
                        StandardOpenOption.CREATE,
                        StandardOpenOption.READ,
                        StandardOpenOption.WRITE)) {
            Device device = stack.deviceOf(address).orElseThrow();
            try (TestEndpoint a = new TestEndpoint(device.open(), address);
                    TestEndpoint b = new TestEndpoint(device.open(), address);
                    TestEndpoint other = new TestEndpoint(device.open(), address);
                    TestEndpoint peer = new TestEndpoint(device.open(), address)) {
                TestEndpoint.connect(a, b);
                TestEndpoint.connect(other, peer);
                MemorySegment mapped =
                        channel.map(FileChannel.MapMode.READ_WRITE, 0, (long) PAGES * PAGE_BYTES, Arena.ofAuto());
                MemoryRegion file = b.domain.register(mapped, TestEndpoint.ALL);
                CompletionStatus status = CompletionStatus.SUCCESS;
                for (int i = 0; i < WARM_UP; i++) {
                    status = write(a, file, 0);
                }
                System.out.println("begin " + status);
                int page = 0;
                while (status == CompletionStatus.SUCCESS && page < PAGES) {
                    status = write(a, file, page++);
                }
                System.out.println("full " + status);
                System.out.println("other " + write(other, peer.region, 0) + " "
                        + stack.counters().get("process_qp_faults"));
            }
        }
    }

    private static CompletionStatus write(TestEndpoint from, MemoryRegion to, int page) {
        from.queuePair.postSend(new SendWorkRequest()
                .reset(1)
                .write(to.address() + (long) page * PAGE_BYTES, to.remoteKey())
                .from(from.region, 0, 8)
                .signaled());
        return from.completion().status();
    }
}

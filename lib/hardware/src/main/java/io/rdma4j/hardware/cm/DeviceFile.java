package io.rdma4j.hardware.cm;

import io.rdma4j.cm.abi.CmNumbers;
import io.rdma4j.cm.host.SystemFile;
import io.rdma4j.hardware.library.CallState;
import io.rdma4j.hardware.library.Remedies;
import io.rdma4j.hardware.system.Linux;
import io.rdma4j.verbs.Errno;
import io.rdma4j.verbs.RdmaException;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.file.Path;

/** The open device file of the kernel's connection manager. The process has one, and never closes it. Thread safe. */
final class DeviceFile implements CommandFile {
    private static final Path PATH = Path.of("/dev/infiniband/rdma_cm");
    private static final Path VERSION = Path.of("/sys/class/misc/rdma_cm/abi_version");
    private static final String OPEN = "rdma_create_event_channel";

    private final int descriptor;

    private DeviceFile(int descriptor) {
        this.descriptor = descriptor;
    }

    /**
     * Opens the file. The descriptor does not block, and programs that this process starts do not inherit it.
     *
     * @throws RdmaException if the file may not be opened, or the kernel's commands are of another version
     */
    static DeviceFile open() {
        requireVersion();
        int descriptor = Linux.open(PATH.toString());
        if (descriptor < 0) {
            Errno errno = Errno.of(descriptor);
            throw new RdmaException(OPEN, errno, PATH + " cannot be opened", remedy(errno));
        }
        return new DeviceFile(descriptor);
    }

    private static String remedy(Errno errno) {
        return errno == Errno.ENOENT || errno == Errno.ENODEV
                ? "Load the kernel module rdma_ucm: `modprobe rdma_ucm`"
                : Remedies.of(OPEN, errno);
    }

    private static void requireVersion() {
        String version;
        try {
            version = SystemFile.read(VERSION);
        } catch (IOException unknown) {
            return; // a container may hide the file; all kernels since 2.6.19 have this version
        }
        if (!version.equals(Integer.toString(CmNumbers.ABI_VERSION))) {
            throw new RdmaException(
                    OPEN,
                    Errno.ENOSYS,
                    "the kernel's connection manager has commands of version " + version + ", not "
                            + CmNumbers.ABI_VERSION,
                    "Use the software device: --device soft");
        }
    }

    /** Returns the descriptor, which is readable while there are events. */
    int descriptor() {
        return descriptor;
    }

    @Override
    public int write(MemorySegment command) {
        try (Arena arena = Arena.ofConfined()) {
            return Linux.write(descriptor, new CallState(arena), command, command.byteSize());
        }
    }
}

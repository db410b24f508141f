package io.rdma4j.exec.cm;

import io.rdma4j.cm.spi.CmProvider;
import io.rdma4j.exec.bridge.Arguments;
import io.rdma4j.exec.bridge.Failures;
import io.rdma4j.exec.bridge.Handles;
import io.rdma4j.exec.bridge.Readiness;
import io.rdma4j.verbs.Device;
import io.rdma4j.verbs.Errno;
import io.rdma4j.verbs.RdmaException;
import io.rdma4j.verbs.abi.Native;
import io.rdma4j.verbs.spi.DeviceChoice;
import java.util.Comparator;
import java.util.ServiceLoader;

/**
 * The calls from C to the device file of the connection manager. Each method returns 0 or a positive error number, and
 * never throws. Thread safe.
 */
public final class CmCalls {
    /**
     * The device file of this process. It uses the provider with the lowest preference, which is the software device's:
     * for hardware, a program does not need this library.
     */
    private static final class OfProcess {
        static final CmFiles FILES = create();

        private static CmFiles create() {
            CmProvider provider = ServiceLoader.load(CmProvider.class, CmCalls.class.getClassLoader()).stream()
                    .map(ServiceLoader.Provider::get)
                    .min(Comparator.comparingInt(CmProvider::preference))
                    .orElseThrow(() -> new RdmaException(
                            "open",
                            Errno.ENODEV,
                            "no provider of RDMA devices is on the module path",
                            "Add the module io.rdma4j.soft"));
            DeviceChoice choice = DeviceChoice.current();
            return new CmFiles(
                    provider,
                    choice.requested() == null
                            ? null
                            : local -> Device.of(local).filter(choice::allows).isPresent(),
                    Readiness.EVENT_DESCRIPTORS);
        }
    }

    private CmCalls() {}

    /** Opens the device file. C: {@code open} of {@code /dev/infiniband/rdma_cm}. */
    public static int open(long arguments) {
        try {
            Arguments.set(arguments, 0, Handles.add(OfProcess.FILES.open(Arguments.number(arguments, 0))));
            return 0;
        } catch (Throwable failure) {
            return Failures.errno(failure);
        }
    }

    /** Executes a command; returns {@code EAGAIN} if there is no event. C: {@code write} to the file. */
    public static int write(long arguments) {
        try {
            CmFile file = Handles.of(Arguments.number(arguments, 0), CmFile.class);
            int other = Arguments.number(arguments, 3);
            return Commands.execute(
                    file,
                    Native.segment(Arguments.get(arguments, 1), Arguments.get(arguments, 2)),
                    other == 0 ? null : Handles.of(other, CmFile.class));
        } catch (Throwable failure) {
            return Failures.errno(failure);
        }
    }

    /** Closes the file and destroys its identifiers. C: {@code close}. */
    public static int close(long arguments) {
        try {
            int handle = Arguments.number(arguments, 0);
            CmFile file = Handles.of(handle, CmFile.class);
            Handles.remove(handle);
            file.files.close(file);
            return 0;
        } catch (Throwable failure) {
            return Failures.errno(failure);
        }
    }

    /**
     * Disconnects all peers and sends everything that is pending, because the process ends. A kernel does this when it
     * closes the files of a process.
     */
    public static int finish() {
        try {
            OfProcess.FILES.provider().finish();
            return 0;
        } catch (Throwable failure) {
            return Failures.errno(failure);
        }
    }
}

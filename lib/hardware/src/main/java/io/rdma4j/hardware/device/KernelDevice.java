package io.rdma4j.hardware.device;

import io.rdma4j.hardware.library.Libibverbs;
import java.nio.file.Files;
import java.nio.file.Path;
import org.jspecify.annotations.Nullable;

/**
 * An RDMA device of this host's kernel. This process may be unable to use it.
 *
 * @param name the name, for example {@code mlx5_0}
 * @param isIwarp true if the device uses iWARP, false if it uses RoCE or InfiniBand
 * @param verbsFile the device file for verbs; null if the kernel has none
 * @param connectionManager the file of the kernel's connection manager
 * @param device the device in the list of libibverbs; null without the library or without a driver
 */
record KernelDevice(
        String name,
        boolean isIwarp,
        @Nullable Path verbsFile,
        Path connectionManager,
        @Nullable HardwareDevice device) {

    /** Returns a clause that explains why this process cannot use the device now; empty if it can. */
    String problem() {
        if (device == null) {
            return Libibverbs.isUsable()
                    ? "libibverbs.so.1 has no driver for it; install the package ibverbs-providers"
                    : Libibverbs.absence();
        }
        if (verbsFile == null) {
            return "the kernel has no file for it in /dev/infiniband; load the module ib_uverbs";
        }
        if (!Files.exists(connectionManager)) {
            return connectionManager + " does not exist; load the module rdma_ucm";
        }
        for (Path file : new Path[] {verbsFile, connectionManager}) {
            if (!Files.isWritable(file)) {
                return file + " cannot be written; check its permissions";
            }
        }
        return "";
    }
}

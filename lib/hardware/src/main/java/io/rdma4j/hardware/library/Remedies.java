package io.rdma4j.hardware.library;

import io.rdma4j.verbs.Errno;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Set;

/** Suggests remedies for errors of a device. */
public final class Remedies {
    private static final Path LIMITS = Path.of("/proc/self/limits");

    /** The calls for which the kernel locks memory. */
    private static final Set<String> LOCKING = Set.of(
            "ibv_reg_mr",
            "ibv_reg_mr_iova2",
            "ibv_rereg_mr",
            "ibv_create_qp",
            "ibv_create_cq",
            "ibv_create_srq",
            "ibv_create_qp_ex");

    private static final String FILES =
            "Linux 6.5 and later refuse shared mappings of files on ext4, XFS and other disk file systems, and earlier"
                    + " kernels refuse read-only ones: use a file on tmpfs or hugetlbfs, a private mapping, or a copy."
                    + " Other memory must be mapped, and writable if the rights include writing";

    private Remedies() {}

    /** Returns a sentence, or an empty text if no remedy is known. */
    public static String of(String operation, Errno error) {
        return switch (error) {
            case ENOMEM -> LOCKING.contains(operation) ? lockedMemory() : "";
            case EFAULT -> operation.startsWith("ibv_reg_mr") ? FILES : "";
            case EACCES, EPERM -> "Check the permissions of the files in /dev/infiniband";
            case EBUSY -> "Close the objects that use it first";
            default -> "";
        };
    }

    /** Returns a sentence about the limit of locked memory, or an empty text without a limit. */
    private static String lockedMemory() {
        try {
            for (String line : Files.readAllLines(LIMITS)) {
                if (line.startsWith("Max locked memory") && !line.contains("unlimited")) {
                    String[] words =
                            line.substring("Max locked memory".length()).strip().split(" ", 2);
                    return "The device locks memory, of which this process may have " + words[0]
                            + " bytes: raise the limit (ulimit -l, LimitMEMLOCK= of systemd), or use less";
                }
            }
        } catch (IOException unknown) {
            // The error is reported without the limit.
        }
        return "";
    }
}

package io.rdma4j.hardware.cm;

import io.rdma4j.hardware.library.Remedies;
import io.rdma4j.verbs.Errno;

/** Suggests remedies for errors of the kernel's connection manager. */
final class CmRemedies {
    private CmRemedies() {}

    /** Returns a sentence, or an empty text if no remedy is known. */
    static String of(String operation, Errno error) {
        return switch (error) {
            case EACCES ->
                operation.equals("rdma_bind_addr")
                        ? "Use a port from 1024, or grant the process CAP_NET_BIND_SERVICE"
                        : Remedies.of(operation, error);
            case EADDRINUSE -> "Use another port, or setReuseAddress(true) on both before binding";
            case EADDRNOTAVAIL -> "Use an address of this host, and a port that no other identifier has";
            case ENODEV -> "Use an address that an RDMA device has; `rdma4j ibv_devinfo -v` lists them as GIDs";
            case ENETUNREACH, EHOSTUNREACH -> "Check the address and the routing table";
            case ETIMEDOUT -> "Check that the host is up";
            case EISCONN -> "This may be ignored";
            default -> Remedies.of(operation, error);
        };
    }
}

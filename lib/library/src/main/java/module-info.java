/**
 * RDMA in one dependency: connections, listeners and shared memory ({@link io.rdma4j}), over the verbs and the RDMA connection manager,
 * and RDMA sockets, with their devices.
 *
 * <p>A module that requires it also reads {@code io.rdma4j.verbs}, {@code io.rdma4j.cm} and {@code io.rdma4j.sockets}. The
 * software device provides devices for the addresses of the host. The module {@code io.rdma4j.hardware}, which comes with the
 * dependency, provides the RDMA devices of the machine, if native access is enabled for it. A program that configures the
 * software device through its own API also requires {@code io.rdma4j.soft}.
 */
module io.rdma4j {
    requires static org.jspecify;
    requires io.rdma4j.soft;
    requires transitive io.rdma4j.cm;
    requires transitive io.rdma4j.sockets;
    requires transitive io.rdma4j.verbs;

    exports io.rdma4j;
}

package io.rdma4j.exec.verbs;

import io.rdma4j.exec.bridge.Failures;
import io.rdma4j.verbs.AddressVector;
import io.rdma4j.verbs.abi.AddressVectorFields;
import io.rdma4j.verbs.abi.AddressVectors;
import io.rdma4j.verbs.abi.Native;

/** Reads paths out of {@code struct ibv_ah_attr}, and completes them as the kernel does for RoCE. */
final class Paths {
    private static final int DEFAULT_HOP_LIMIT = 64;
    private static final int FLOW_LABEL_MASK = 0xf_ffff;

    private Paths() {}

    /**
     * Returns the path at an address. The kernel takes the hop limit of the route, so programs leave it at 0 or 1; and a flow label
     * has 20 bits, of whatever a program leaves there.
     *
     * @throws io.rdma4j.verbs.RdmaException {@code EINVAL} if it has no global route, which RoCE needs
     */
    static AddressVector read(String operation, long from) {
        if (Native.byteAt(from + AddressVectorFields.IS_GLOBAL) == 0) {
            throw Failures.invalid(operation, "a path without a global route (is_global)");
        }
        AddressVector path = AddressVectors.read(Native.segment(from, AddressVectorFields.BYTES), 0);
        return path.withFlowLabel(path.flowLabel() & FLOW_LABEL_MASK)
                .withHopLimit(path.hopLimit() <= 1 ? DEFAULT_HOP_LIMIT : path.hopLimit());
    }
}

package io.rdma4j.exec.verbs;

import io.rdma4j.exec.bridge.Failures;
import io.rdma4j.verbs.AddressVector;
import io.rdma4j.verbs.abi.AddressVectors;
import io.rdma4j.verbs.abi.Native;
import io.rdma4j.verbs.abi.VerbsStructures.AddressVectorFields;

/** Reads paths from {@code struct ibv_ah_attr}, and completes them like the kernel for RoCE. */
final class Paths {
    private static final int DEFAULT_HOP_LIMIT = 64;
    private static final int FLOW_LABEL_MASK = 0xf_ffff;

    private Paths() {}

    /**
     * Returns the path at an address. The kernel uses the hop limit of the route, so programs set 0 or 1, which this
     * method replaces by the default. Some programs pass a flow label of more than 20 bits; the upper bits are ignored.
     *
     * @throws io.rdma4j.verbs.RdmaException {@code EINVAL} if the path has no global route, which RoCE requires
     */
    static AddressVector read(String operation, long from) {
        if (Native.byteAt(from + AddressVectorFields.IS_GLOBAL) == 0) {
            throw Failures.invalid(operation, "the path has no global route (is_global)");
        }
        AddressVector path = AddressVectors.read(Native.segment(from, AddressVectorFields.BYTES), 0);
        return path.withFlowLabel(path.flowLabel() & FLOW_LABEL_MASK)
                .withHopLimit(path.hopLimit() <= 1 ? DEFAULT_HOP_LIMIT : path.hopLimit());
    }
}

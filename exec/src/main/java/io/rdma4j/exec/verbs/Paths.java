package io.rdma4j.exec.verbs;

import io.rdma4j.exec.bridge.Failures;
import io.rdma4j.verbs.AddressVector;
import io.rdma4j.verbs.DeviceContext;
import io.rdma4j.verbs.GidEntry;
import io.rdma4j.verbs.abi.AddressVectorFields;
import io.rdma4j.verbs.abi.AddressVectors;
import io.rdma4j.verbs.abi.Native;

/** Reads paths out of {@code struct ibv_ah_attr}, and completes them as the kernel does for RoCE. */
final class Paths {
    private static final int DEFAULT_HOP_LIMIT = 64;
    private static final int FLOW_LABEL_MASK = 0xf_ffff;
    private static final long LINK_LOCAL_MASK = 0xffc0L << 48;
    private static final long LINK_LOCAL = 0xfe80L << 48;

    private Paths() {}

    /**
     * Returns the path at an address.
     *
     * @throws io.rdma4j.verbs.RdmaException {@code EINVAL} if it has no global route, which RoCE needs
     */
    static AddressVector read(DeviceContext context, long from) {
        if (Native.byteAt(from + AddressVectorFields.IS_GLOBAL) == 0) {
            throw Failures.invalid("ibv_create_ah", "a path without a global route (is_global)");
        }
        return completed(context, AddressVectors.read(Native.segment(from, AddressVectorFields.BYTES), 0));
    }

    /**
     * Completes a path of a program. The kernel takes the hop limit of the route, so programs leave it at 0 or 1. It takes the lower
     * 20 bits of the flow label: UCX sets all 32. A link-local destination is on the network of the source.
     */
    static AddressVector completed(DeviceContext context, AddressVector path) {
        AddressVector completed = path.withFlowLabel(path.flowLabel() & FLOW_LABEL_MASK);
        if (path.hopLimit() <= 1) {
            completed = completed.withHopLimit(DEFAULT_HOP_LIMIT);
        }
        if ((path.destination().high() & LINK_LOCAL_MASK) != LINK_LOCAL) {
            return completed;
        }
        GidEntry source = DeviceCalls.entry(context, path.port(), path.sourceGidIndex());
        return source == null ? completed : completed.withDestinationScope(source.networkInterfaceIndex());
    }
}

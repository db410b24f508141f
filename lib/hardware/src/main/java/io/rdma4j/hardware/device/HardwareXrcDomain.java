package io.rdma4j.hardware.device;

import io.rdma4j.hardware.library.Call;
import io.rdma4j.verbs.XrcDomain;
import io.rdma4j.verbs.abi.VerbsStructures.ExtendedContext;

/** An XRC domain of a device. */
final class HardwareXrcDomain extends HardwareObject implements XrcDomain {
    HardwareXrcDomain(HardwareContext context, long address) {
        super(context, Kind.XRC_DOMAIN, address);
    }

    @Override
    void destroy(Call call, long address) {
        int error = (int)
                call.result(context().extendedFunction(ExtendedContext.CLOSE_XRC_DOMAIN, "ibv_close_xrcd"), address);
        call.checkResult("ibv_close_xrcd", toString(), error);
    }

    @Override
    public String toString() {
        return "XRC domain of " + context().device();
    }
}

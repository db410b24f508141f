package io.rdma4j.hardware.device;

import io.rdma4j.hardware.library.Call;
import io.rdma4j.hardware.library.Function;
import io.rdma4j.verbs.abi.Native;

/** The list of devices that libibverbs returns. Its addresses are valid until it is closed. */
final class DeviceList implements AutoCloseable {
    private final Call call;
    private final long list;
    private final long[] addresses;

    /** Reads the list, which is empty if the kernel has no support for RDMA. */
    DeviceList(Call call) {
        this.call = call;
        list = call.result(Function.GET_DEVICE_LIST, 0);
        int count = 0;
        while (list != 0 && Native.longAt(list + 8L * count) != 0) {
            count++;
        }
        addresses = new long[count];
        for (int i = 0; i < count; i++) {
            addresses[i] = Native.longAt(list + 8L * i);
        }
    }

    long[] addresses() {
        return addresses;
    }

    @Override
    public void close() {
        if (list != 0) {
            long _ = call.result(Function.FREE_DEVICE_LIST, list);
        }
    }
}

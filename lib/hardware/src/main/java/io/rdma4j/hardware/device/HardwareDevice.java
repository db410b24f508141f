package io.rdma4j.hardware.device;

import io.rdma4j.hardware.library.Call;
import io.rdma4j.hardware.library.Function;
import io.rdma4j.verbs.Device;
import io.rdma4j.verbs.DeviceContext;
import io.rdma4j.verbs.Errno;
import io.rdma4j.verbs.NodeType;
import io.rdma4j.verbs.RdmaException;
import io.rdma4j.verbs.TransportType;
import io.rdma4j.verbs.abi.Native;
import io.rdma4j.verbs.abi.VerbsStructures.DeviceFields;
import java.util.Objects;

/**
 * An RDMA device of the kernel. Two instances are equal if they have the same name and number: the kernel does not
 * reuse numbers. Thread safe.
 */
public final class HardwareDevice implements Device {
    private static final int IWARP_TRANSPORT = 1;

    private final String name;
    private final int index;
    private final long guid;
    private final NodeType nodeType;
    private final TransportType transportType;

    /** Reads a device of libibverbs's list. */
    HardwareDevice(Call call, long device) {
        name = Native.textAt(call.result(Function.GET_DEVICE_NAME, device), 64);
        index = (int) call.result(Function.GET_DEVICE_INDEX, device);
        guid = Long.reverseBytes(call.result(Function.GET_DEVICE_GUID, device));
        nodeType = nodeType(Native.intAt(device + DeviceFields.NODE_TYPE));
        transportType = Native.intAt(device + DeviceFields.TRANSPORT_TYPE) == IWARP_TRANSPORT
                ? TransportType.IWARP
                : TransportType.INFINIBAND;
    }

    private static NodeType nodeType(int code) {
        for (NodeType type : NodeType.values()) {
            if (type.code() == code) {
                return type;
            }
        }
        return NodeType.CHANNEL_ADAPTER;
    }

    @Override
    public String name() {
        return name;
    }

    /** Returns the number that identifies the device in the kernel's connection manager. */
    public int index() {
        return index;
    }

    @Override
    public long guid() {
        return guid;
    }

    @Override
    public NodeType nodeType() {
        return nodeType;
    }

    @Override
    public TransportType transportType() {
        return transportType;
    }

    @Override
    public DeviceContext open() {
        try (Call call = new Call();
                DeviceList list = new DeviceList(call)) {
            for (long device : list.addresses()) {
                if (equals(new HardwareDevice(call, device))) {
                    long context = call.create(Function.OPEN_DEVICE, name, device);
                    return HardwareContext.of(this, context);
                }
            }
        }
        throw new RdmaException("ibv_open_device", Errno.ENODEV, name + " has been removed", "");
    }

    @Override
    public boolean equals(Object other) {
        return other instanceof HardwareDevice device && device.name.equals(name) && device.index == index;
    }

    @Override
    public int hashCode() {
        return Objects.hash(name, index);
    }

    @Override
    public String toString() {
        return name;
    }
}

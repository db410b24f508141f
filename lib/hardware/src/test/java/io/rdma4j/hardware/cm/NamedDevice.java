package io.rdma4j.hardware.cm;

import io.rdma4j.verbs.Device;
import io.rdma4j.verbs.DeviceContext;
import io.rdma4j.verbs.NodeType;
import io.rdma4j.verbs.TransportType;

/** A device that tests only use by its name. */
record NamedDevice(String name, long guid, TransportType transportType) implements Device {
    @Override
    public NodeType nodeType() {
        return NodeType.CHANNEL_ADAPTER;
    }

    @Override
    public DeviceContext open() {
        throw new UnsupportedOperationException("no test opens it");
    }

    @Override
    public String toString() {
        return name;
    }
}

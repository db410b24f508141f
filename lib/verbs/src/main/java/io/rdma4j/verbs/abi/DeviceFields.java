package io.rdma4j.verbs.abi;

/** A device in the list of devices. */
@CStruct("struct ibv_device")
public final class DeviceFields {
    @CName("node_type")
    public static final int NODE_TYPE = 16;

    @CName("transport_type")
    public static final int TRANSPORT_TYPE = 20;

    @CName("name")
    public static final int NAME = 24;

    @CName("dev_name")
    public static final int KERNEL_NAME = 88;

    @CName("dev_path")
    public static final int KERNEL_PATH = 152;

    @CName("ibdev_path")
    public static final int PATH = 408;

    private DeviceFields() {}
}

package io.rdma4j.soft.device;

/** Lets tests in other packages scan the interfaces of a host that does not report changes. */
public final class InterfaceScan {
    private InterfaceScan() {}

    /** Compares the interfaces with those of the previous scan, and reports the changes. */
    public static void run(SoftDevices devices) {
        devices.watch().scan();
    }
}

package io.rdma4j.conformance.device;

import io.rdma4j.verbs.Device;
import io.rdma4j.verbs.DeviceContext;

/** The drivers whose limits are known. */
public enum Driver {
    /** The software device of this project. */
    SOFTWARE,

    /** {@code rdma_rxe}, RoCEv2 of the Linux kernel. */
    RXE,

    /** {@code siw}, iWARP of the Linux kernel. */
    SIW,

    /** Any other driver, of which no limit is known. */
    OTHER;

    private static final int VENDOR_OF_RXE = 0xff_ffff;
    private static final int VENDOR_OF_SIW = 0x62_6d74;

    /** Returns the driver of a device. */
    static Driver of(Device device) {
        if (device.name().startsWith("rdma4j_")) {
            return SOFTWARE;
        }
        try (DeviceContext context = device.open()) {
            return switch (context.attributes().vendorId()) {
                case VENDOR_OF_RXE -> RXE;
                case VENDOR_OF_SIW -> SIW;
                default -> OTHER;
            };
        }
    }
}

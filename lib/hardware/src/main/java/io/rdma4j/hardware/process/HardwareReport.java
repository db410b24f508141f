package io.rdma4j.hardware.process;

import io.rdma4j.hardware.device.HardwareDevices;
import java.util.List;

/**
 * A report on a device of the kernel: whether this process can use it.
 *
 * @param name the name, for example {@code mlx5_0}
 * @param problem a clause that explains why this process cannot use it; empty if it can
 */
public record HardwareReport(String name, String problem) {
    /** Returns a report on each device of the kernel, in the order of their names. Empty on a host without devices. */
    public static List<HardwareReport> all() {
        return HardwareDevices.problems().entrySet().stream()
                .map(each -> new HardwareReport(each.getKey(), each.getValue()))
                .toList();
    }

    /** Returns whether verbs and the connection manager work. */
    public boolean isUsable() {
        return problem.isEmpty();
    }

    /** Returns a clause that explains the use of the device, or why it is not used. */
    public String explanation() {
        return isUsable() ? "used by programs for its addresses" : "not used: " + problem;
    }
}

package io.rdma4j.hardware.process;

import io.rdma4j.hardware.device.HardwareDevices;
import java.util.List;

/**
 * A device of the kernel, and whether this process can use it.
 *
 * @param name the name, for example {@code mlx5_0}
 * @param problem a clause that says why it cannot be used; empty if it can
 */
public record HardwareReport(String name, String problem) {
    /** Returns a report of each device of the kernel, in the order of their names; none on a host without devices. */
    public static List<HardwareReport> all() {
        return HardwareDevices.problems().entrySet().stream()
                .map(each -> new HardwareReport(each.getKey(), each.getValue()))
                .toList();
    }

    /** Returns whether verbs and the connection manager work. */
    public boolean isUsable() {
        return problem.isEmpty();
    }

    /** Returns a clause that says for what the device is used, or why it is not. */
    public String explanation() {
        return isUsable() ? "used by programs for its addresses" : "not used: " + problem;
    }
}

package io.rdma4j.tools.devices;

import io.rdma4j.tools.command.CommonOptions;
import io.rdma4j.tools.command.Tool;
import io.rdma4j.tools.command.ToolEnvironment;
import io.rdma4j.verbs.Device;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;

/** {@code ibv_devices}: prints the names and GUIDs of the devices like libibverbs' tool. Arguments are ignored. */
public final class IbvDevices implements Tool {
    private static final String HELP = """
        Usage: ibv_devices
        Prints the name and the node GUID of each RDMA device. A software device has the same GUID as rdma_rxe
        on its network interface.

        """;

    /** Creates the tool. */
    public IbvDevices() {}

    @Override
    public String name() {
        return "ibv_devices";
    }

    @Override
    public String summary() {
        return "RDMA devices by name and GUID";
    }

    @Override
    public String help() {
        return HELP + CommonOptions.usage();
    }

    @Override
    public int run(List<String> arguments, ToolEnvironment environment) {
        environment.out().println(String.format(Locale.ROOT, "    %-16s\t   node GUID", "device"));
        environment.out().println(String.format(Locale.ROOT, "    %-16s\t----------------", "------"));
        List<Map<String, String>> found = new ArrayList<>();
        for (Device device : Device.chosen()) {
            String guid = String.format(Locale.ROOT, "%016x", device.guid());
            environment.out().println(String.format(Locale.ROOT, "    %-16s\t%s", device.name(), guid));
            Map<String, String> facts = new LinkedHashMap<>();
            facts.put("name", device.name());
            facts.put("guid", guid);
            found.add(facts);
        }
        environment.report().result("devices", found);
        return 0;
    }
}

package io.rdma4j.tools.devices;

import io.rdma4j.cm.host.SystemFile;
import io.rdma4j.tools.command.CStrings;
import io.rdma4j.tools.command.CommonOptions;
import io.rdma4j.tools.command.OptionTable;
import io.rdma4j.tools.command.Tool;
import io.rdma4j.tools.command.ToolEnvironment;
import io.rdma4j.tools.command.ToolFailure;
import io.rdma4j.verbs.Device;
import io.rdma4j.verbs.DeviceAttributes;
import io.rdma4j.verbs.DeviceContext;
import io.rdma4j.verbs.GidEntry;
import io.rdma4j.verbs.PortAttributes;
import io.rdma4j.verbs.RdmaException;
import java.io.IOException;
import java.nio.file.InvalidPathException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * {@code ibv_devinfo}: prints the attributes of the devices and their ports.
 *
 * <p>It has the options, lines and exit statuses of libibverbs' tool (rdma-core 44).
 */
public final class IbvDevinfo implements Tool {
    /** The devices of the kernel. */
    private static final Path BOARDS = Path.of("/sys/class/infiniband");

    private static final int FAILED = -1;
    private static final int OPEN_FAILED = 1;
    private static final int NO_SUCH_PORT = 4;

    /** Creates the tool. */
    public IbvDevinfo() {}

    @Override
    public String name() {
        return "ibv_devinfo";
    }

    @Override
    public String summary() {
        return "attributes of RDMA devices, ports and their GIDs";
    }

    @Override
    public String help() {
        return CommandLine.USAGE + "\nWithout -d all devices are printed.\n\n" + CommonOptions.usage();
    }

    @Override
    public List<OptionTable<?>> options() {
        return List.of(CommandLine.OPTIONS);
    }

    @Override
    public int run(List<String> arguments, ToolEnvironment environment) {
        CommandLine line = new CommandLine(environment);
        try {
            var _ = CommandLine.OPTIONS.parse(name(), arguments, line, environment.err(), _ -> line.usage(FAILED));
        } catch (ToolFailure e) {
            return e.status();
        }
        environment.report().parameter("device", line.device).parameter("port", line.port == 0 ? null : line.port);
        environment.report().parameter("verbose", line.verbose);
        return print(line.device, line.port, line.verbose, environment);
    }

    private static final class CommandLine {
        static final OptionTable<CommandLine> OPTIONS = OptionTable.<CommandLine>aligned(22)
                .option(
                        "-d, --ib-dev=<dev>",
                        "use IB device <dev> (default first device found)",
                        (line, value) -> line.device = value)
                .option("-i, --ib-port=<port>", "use port <port> of IB device (default all ports)", (line, value) -> {
                    line.port = (int) CStrings.strtol(value);
                    if (line.port <= 0) {
                        throw line.usage(1);
                    }
                })
                .option("-l, --list", "print only the IB devices names", (line, _) -> {
                    throw new ToolFailure(list(line.environment));
                })
                .option(
                        "-v, --verbose",
                        "print all the attributes of the IB device(s)",
                        (line, _) -> line.verbose = true);

        static final String USAGE = """
            Usage: ibv_devinfo             print the ca attributes

            Options:
            """ + OPTIONS.usage();

        private final ToolEnvironment environment;
        private @Nullable String device;
        private int port;
        private boolean verbose;

        CommandLine(ToolEnvironment environment) {
            this.environment = environment;
        }

        private ToolFailure usage(int status) {
            environment.out().print(USAGE);
            return new ToolFailure(status);
        }
    }

    private static int list(ToolEnvironment environment) {
        List<String> names = Device.chosen().stream().map(Device::name).toList();
        environment.out().println(names.size() + " HCA" + (names.size() == 1 ? "" : "s") + " found:");
        names.forEach(name -> environment.out().println("\t" + name));
        environment.out().println();
        environment.report().result("devices", names);
        return 0;
    }

    private int print(@Nullable String wanted, int port, boolean verbose, ToolEnvironment environment) {
        List<Device> devices = new ArrayList<>(Device.chosen());
        if (wanted == null && devices.isEmpty()) {
            environment.err().println("No IB devices found");
            return FAILED;
        }
        devices.removeIf(device -> wanted != null && !device.name().equals(wanted));
        if (devices.isEmpty()) {
            environment.err().println("IB device '" + wanted + "' wasn't found");
            return FAILED;
        }
        List<Map<String, Object>> found = new ArrayList<>();
        int status = 0;
        for (Device device : devices) {
            status |= print(device, port, verbose, found, environment);
        }
        environment.report().result("devices", found);
        return status;
    }

    private int print(
            Device device,
            int wantedPort,
            boolean verbose,
            List<Map<String, Object>> found,
            ToolEnvironment environment) {
        try (DeviceContext context = device.open()) {
            DeviceAttributes attributes = context.attributes();
            if (wantedPort > attributes.ports()) {
                environment.err().println("Invalid port requested for device");
                return NO_SUCH_PORT;
            }
            DeviceInfo info = new DeviceInfo(environment.out(), verbose);
            info.printDevice(
                    device.name(),
                    device.transportType(),
                    board(device.name()),
                    attributes,
                    context.completionVectors());
            List<Map<String, Object>> ports = new ArrayList<>();
            for (int number = 1; number <= attributes.ports(); number++) {
                if (wantedPort == 0 || number == wantedPort) {
                    PortAttributes port = context.port(number);
                    List<GidEntry> gids = context.gidTable(number);
                    info.printPort(number, device.transportType(), port, gids);
                    ports.add(DeviceInfo.portFacts(number, port, gids));
                }
            }
            Map<String, Object> facts =
                    new LinkedHashMap<>(DeviceInfo.deviceFacts(device.name(), attributes, context.completionVectors()));
            facts.put("ports", ports);
            found.add(facts);
            return 0;
        } catch (RdmaException e) {
            environment.err().println("Failed to open device");
            environment.err().println(name() + ": " + e.getMessage());
            return OPEN_FAILED;
        }
    }

    /** Returns the board identifier of a kernel device, which verbs do not report, or empty for other devices. */
    private static String board(String device) {
        try {
            return SystemFile.read(BOARDS.resolve(device).resolve("board_id"));
        } catch (IOException | InvalidPathException none) {
            return "";
        }
    }
}

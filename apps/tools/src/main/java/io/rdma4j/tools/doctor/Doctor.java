package io.rdma4j.tools.doctor;

import io.rdma4j.hardware.process.HardwareReport;
import io.rdma4j.link.LinkSet;
import io.rdma4j.link.system.LinkSets;
import io.rdma4j.tools.command.SharedMemoryCheck;
import io.rdma4j.tools.command.TerminalText;
import io.rdma4j.tools.command.Tool;
import io.rdma4j.tools.command.ToolEnvironment;
import io.rdma4j.tools.command.ToolReport;
import io.rdma4j.value.Gid;
import io.rdma4j.verbs.Device;
import io.rdma4j.verbs.DeviceContext;
import io.rdma4j.verbs.PortAttributes;
import io.rdma4j.verbs.RdmaException;
import java.io.IOException;
import java.io.PrintStream;
import java.net.InetAddress;
import java.net.NetworkInterface;
import java.net.SocketException;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;

/** {@code rdma4j doctor}: reports Java, links, devices, the use of RoCEv2's UDP port, processes, and warnings. */
public final class Doctor implements Tool {
    private static final String HELP = """
        usage: rdma4j doctor
        Reports Java and the kind of network access, every RDMA device with its addresses (GIDs) and path MTU,
        whether UDP port 4791 is free on these addresses, whether programs started from this shell use RDMA sockets
        and which traffic stays on TCP, the RDMA devices of the kernel, the processes of this user that use rdma4j,
        whether a guardian watches them, and warnings about likely problems, with their remedies.
        """;

    /** Creates the tool. */
    public Doctor() {}

    @Override
    public String name() {
        return "doctor";
    }

    @Override
    public String summary() {
        return "what this machine offers: addresses, GIDs, MTU, who holds UDP port 4791";
    }

    @Override
    public String help() {
        return HELP;
    }

    @Override
    public int run(List<String> arguments, ToolEnvironment environment) {
        if (!arguments.isEmpty()) {
            environment.out().print(HELP);
            return 2;
        }
        PrintStream out = environment.out();
        ToolReport report = environment.report();
        reportJava(out, report);
        List<Map<String, Object>> devices = reportDevices(out);
        report.result("devices", devices);
        SocketsReport.print(System.getenv(), out, report);
        reportKernel(out, report);
        reportProcessesAndWarnings(out, report);
        if (devices.isEmpty()) {
            out.println("No address of this machine has an RDMA device: is a network interface up?");
            return 1;
        }
        return 0;
    }

    private static void reportJava(PrintStream out, ToolReport report) {
        out.println("java      " + Runtime.version() + ", " + System.getProperty("java.vendor") + ", "
                + System.getProperty("os.name") + " " + System.getProperty("os.arch"));
        boolean nativeAccess = LinkSet.class.getModule().isNativeAccessEnabled();
        String link = linkKind();
        report.result("java", Runtime.version().toString())
                .result("network", link)
                .result("nativeAccess", nativeAccess);
        out.println("network   " + link + (nativeAccess ? "" : " (native access to io.rdma4j.link is not enabled)"));
        Optional<String> obstacle = SharedMemoryCheck.obstacle();
        report.result("sharedMemory", obstacle.isEmpty());
        out.println("memory    "
                + obstacle.map("not shared for packets on this host: "::concat)
                        .orElse("shared for packets between processes of this user"));
        out.println();
    }

    private static String linkKind() {
        try (LinkSet links = LinkSets.best()) {
            return links.name();
        } catch (IOException | IllegalArgumentException e) {
            return "not usable: " + e.getMessage();
        }
    }

    /** Prints the devices and returns their attributes for the JSON document. */
    private static List<Map<String, Object>> reportDevices(PrintStream out) {
        List<Map<String, Object>> devices = new ArrayList<>();
        for (Device device : Device.list()) {
            Map<String, Object> values = new LinkedHashMap<>();
            devices.add(values);
            values.put("name", device.name());
            try (DeviceContext context = device.open()) {
                reportDevice(out, device, context, values);
            } catch (RdmaException e) {
                out.println("device    " + device.name() + ": " + e.getMessage());
                values.put("error", String.valueOf(e.getMessage()));
            }
        }
        out.println();
        return devices;
    }

    private static void reportDevice(
            PrintStream out, Device device, DeviceContext context, Map<String, Object> values) {
        PortAttributes port = context.port(1);
        String guid = String.format(Locale.ROOT, "%016x", device.guid());
        String mtu = interfaceMtu(port.networkInterface());
        out.println("device    " + device.name() + " on " + port.networkInterface() + ", "
                + (port.isActive() ? "up" : "down") + ", path MTU "
                + port.activeMtu().bytes() + " of " + mtu + " bytes, GUID " + guid);
        values.put("interface", port.networkInterface());
        values.put("up", port.isActive());
        values.put("pathMtuBytes", port.activeMtu().bytes());
        values.put("interfaceMtuBytes", mtu.equals("?") ? mtu : Integer.valueOf(mtu));
        values.put("guid", guid);
        List<Map<String, Object>> addresses = new ArrayList<>();
        values.put("gids", addresses);
        List<Gid> gids = context.gids(1);
        for (int i = 0; i < gids.size(); i++) {
            if (!gids.get(i).equals(Gid.ZERO)) {
                addresses.add(reportGid(out, i, gids.get(i), port.networkInterface()));
            }
        }
    }

    private static Map<String, Object> reportGid(PrintStream out, int index, Gid gid, String networkInterface) {
        InetAddress address = RocePort.withScope(gid.toInetAddress(), networkInterface);
        String text = address.getHostAddress();
        String state = RocePort.state(address);
        out.println(String.format(Locale.ROOT, "  GID %2d  %-39s  %-28s  %s", index, gid, text, state));
        Map<String, Object> values = new LinkedHashMap<>();
        values.put("index", index);
        values.put("gid", gid.toString());
        values.put("address", text);
        values.put("rocePort", state);
        return values;
    }

    private static String interfaceMtu(String name) {
        try {
            NetworkInterface found = NetworkInterface.getByName(name);
            return found == null ? "?" : String.valueOf(found.getMTU());
        } catch (SocketException e) {
            return "?";
        }
    }

    private static void reportProcessesAndWarnings(PrintStream out, ToolReport report) {
        HostChecks.Processes processes = HostChecks.processes();
        out.println("processes "
                + (processes.names().isEmpty()
                        ? "no process of this user uses rdma4j here"
                        : TerminalText.of(String.join(", ", processes.names())) + "; see rdma4j top"));
        boolean isGuarded = HostChecks.isGuardianRunning();
        out.println("guardian  "
                + (isGuarded
                        ? "runs: the peers of a process that is killed are disconnected"
                        : "does not run: peers on other hosts are not notified when a Java process is killed, unless"
                                + " another process uses its address; see rdma4j guardian"));
        report.result("guardian", isGuarded);
        List<String> warnings = new ArrayList<>();
        HostChecks.java(Runtime.version()).ifPresent(warnings::add);
        boolean nativeAccess = LinkSet.class.getModule().isNativeAccessEnabled();
        HostChecks.nativeAccess(System.getProperty("os.name"), nativeAccess).ifPresent(warnings::add);
        HostChecks.receiveBuffer().ifPresent(warnings::add);
        warnings.addAll(processes.warnings());
        report.result("processes", processes.names()).result("warnings", warnings);
        warnings.forEach(warning -> out.println("warning   " + TerminalText.of(warning)));
    }

    private static void reportKernel(PrintStream out, ToolReport report) {
        List<HardwareReport> devices = HardwareReport.all();
        report.result(
                "kernelDevices", devices.stream().map(Doctor::kernelDevice).toList());
        if (devices.isEmpty()) {
            out.println("kernel    no RDMA device; none is needed");
        }
        for (HardwareReport device : devices) {
            out.println("kernel    " + device.name() + ": " + device.explanation());
        }
    }

    private static Map<String, Object> kernelDevice(HardwareReport device) {
        Map<String, Object> values = new LinkedHashMap<>();
        values.put("name", device.name());
        values.put("usable", device.isUsable());
        values.put("explanation", device.explanation());
        return values;
    }
}

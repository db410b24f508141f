package io.rdma4j.tools.doctor;

import io.rdma4j.link.LinkSet;
import io.rdma4j.link.LinkSets;
import io.rdma4j.tools.Tool;
import io.rdma4j.tools.ToolEnvironment;
import io.rdma4j.verbs.Device;
import io.rdma4j.verbs.DeviceContext;
import io.rdma4j.verbs.Gid;
import io.rdma4j.verbs.PortAttributes;
import io.rdma4j.verbs.RdmaException;
import java.io.IOException;
import java.io.PrintStream;
import java.net.InetAddress;
import java.net.NetworkInterface;
import java.net.SocketException;
import java.util.List;
import java.util.Locale;
import java.util.Optional;

/** {@code rdma4j doctor}: Java, links, devices with their GIDs and MTUs, and who holds RoCEv2's UDP port. */
public final class Doctor implements Tool {
    private static final String HELP = """
        usage: rdma4j doctor
        Prints what this machine offers: Java and the way it reaches the network, every RDMA device with its
        addresses (GIDs) and path MTU, whether UDP port 4791 is free there, and RDMA devices of the kernel.
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
    public int run(List<String> arguments, ToolEnvironment environment) {
        if (!arguments.isEmpty()) {
            environment.out().print(HELP);
            return arguments.equals(List.of("--help")) ? 0 : 2;
        }
        PrintStream out = environment.out();
        reportJava(out);
        boolean any = reportDevices(out);
        reportKernel(out);
        if (!any) {
            out.println("No address of this machine has an RDMA device: is a network interface up?");
            return 1;
        }
        return 0;
    }

    private static void reportJava(PrintStream out) {
        out.println("java      " + Runtime.version() + ", " + System.getProperty("java.vendor") + ", "
                + System.getProperty("os.name") + " " + System.getProperty("os.arch"));
        boolean nativeAccess = LinkSet.class.getModule().isNativeAccessEnabled();
        out.println(
                "network   " + linkKind() + (nativeAccess ? "" : " (native access to io.rdma4j.link is not enabled)"));
        out.println();
    }

    private static String linkKind() {
        try (LinkSet links = LinkSets.best()) {
            return links.name();
        } catch (IOException | IllegalArgumentException e) {
            return "not usable: " + e.getMessage();
        }
    }

    private static boolean reportDevices(PrintStream out) {
        boolean any = false;
        for (Device device : Device.list()) {
            any = true;
            try (DeviceContext context = device.open()) {
                PortAttributes port = context.port(1);
                out.println("device    " + device.name() + " on " + port.networkInterface() + ", "
                        + (port.isActive() ? "up" : "down") + ", path MTU "
                        + port.activeMtu().bytes() + " of "
                        + interfaceMtu(port.networkInterface()) + " bytes, GUID "
                        + String.format(Locale.ROOT, "%016x", device.guid()));
                List<Gid> gids = context.gids(1);
                for (int i = 0; i < gids.size(); i++) {
                    if (!gids.get(i).equals(Gid.ZERO)) {
                        reportGid(out, i, gids.get(i), port.networkInterface());
                    }
                }
            } catch (RdmaException e) {
                out.println("device    " + device.name() + ": " + e.getMessage());
            }
        }
        out.println();
        return any;
    }

    private static void reportGid(PrintStream out, int index, Gid gid, String networkInterface) {
        InetAddress address = RocePort.withScope(gid.toInetAddress(), networkInterface);
        out.println(String.format(
                Locale.ROOT,
                "  GID %2d  %-39s  %-28s  %s",
                index,
                gid,
                address.getHostAddress(),
                RocePort.state(address)));
    }

    private static String interfaceMtu(String name) {
        try {
            NetworkInterface found = NetworkInterface.getByName(name);
            return found == null ? "?" : String.valueOf(found.getMTU());
        } catch (SocketException e) {
            return "?";
        }
    }

    private static void reportKernel(PrintStream out) {
        List<KernelDevice> devices = KernelDevice.list();
        if (devices.isEmpty()) {
            out.println("kernel    no RDMA device of its own; none is needed");
        }
        for (KernelDevice device : devices) {
            Optional<String> parent = device.networkInterface();
            out.println("kernel    " + device.name()
                    + parent.map(name -> " on " + name).orElse("")
                    + ": holds UDP port 4791 of that interface's addresses; to use them here, remove it"
                    + " (rdma link delete " + device.name() + "), or use another address");
        }
    }
}

package io.rdma4j.tools.perftest;

import io.rdma4j.cm.AddressInformation;
import io.rdma4j.cm.AddressInformation.Flag;
import io.rdma4j.cm.AddressLookupException;
import io.rdma4j.cm.CmId;
import io.rdma4j.tools.command.AddressFamilies;
import io.rdma4j.tools.command.CmAddresses;
import io.rdma4j.tools.command.HostAddresses;
import io.rdma4j.tools.command.RdmaAccess;
import io.rdma4j.tools.command.ToolFailure;
import io.rdma4j.value.Gid;
import io.rdma4j.value.PortSpace;
import io.rdma4j.verbs.Device;
import io.rdma4j.verbs.DeviceContext;
import io.rdma4j.verbs.RdmaException;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.StandardProtocolFamily;
import java.time.Duration;
import java.util.EnumSet;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * The control channel to the peer, and the device and the GID that this side uses.
 *
 * @param control the control channel to the peer
 * @param context the device
 * @param ownsContext true if closing the session closes the device
 * @param gidIndex the index of the GID
 * @param gid the GID of this side
 * @param local the address on which the server listens, or from which the client connects
 * @param server the server's address, or null on the server
 */
record PerftestSession(
        ControlChannel control,
        DeviceContext context,
        boolean ownsContext,
        int gidIndex,
        Gid gid,
        InetSocketAddress local,
        @Nullable InetSocketAddress server)
        implements AutoCloseable {
    private static final Duration RESOLUTION = Duration.ofSeconds(2);

    /** The exit status of ib_read_bw and ib_atomic_bw if there is no device. The other tools exit with 1. */
    private static final int NO_DEVICE = 7;

    private static final String NO_CONNECTION = " Unable to init the socket connection";

    /** Opens the control channel: waits for the client or connects to the server. */
    static PerftestSession open(Settings settings, Console console) throws ToolFailure {
        checkDevice(settings, console);
        if (!settings.isClient() && settings.output == Settings.Output.FULL) {
            console.line("");
            console.line("************************************");
            console.line("* Waiting for client to connect... *");
            console.line("************************************");
        }
        return settings.rdmaCmControl ? byConnectionManager(settings, console) : byTcp(settings, console);
    }

    private static void checkDevice(Settings settings, Console console) throws ToolFailure {
        List<Device> devices = console.environment().rdma().devices();
        if (devices.isEmpty()) {
            console.error(" Did not detect devices ");
            console.error(" If device exists, check if driver is up");
            throw noDevice(settings, console, "run rdma4j doctor to find out why");
        }
        String name = settings.device;
        if (name != null && devices.stream().noneMatch(device -> device.name().equals(name))) {
            console.error("IB device " + name + " not found");
            throw noDevice(
                    settings,
                    console,
                    "there are "
                            + String.join(
                                    ", ", devices.stream().map(Device::name).toList()));
        }
    }

    private static ToolFailure noDevice(Settings settings, Console console, String explanation) {
        boolean isFetch = settings.isBandwidth() && settings.operation.isFetch();
        return console.failure(isFetch ? NO_DEVICE : 1, " Unable to find the Infiniband/RoCE device", explanation);
    }

    /** Rejects a completion vector that the device does not have. */
    private static void checkVector(DeviceContext context, Settings settings, Console console) throws ToolFailure {
        int last = context.completionVectors() - 1;
        if (settings.completionVector > last) {
            console.error(" Completion vector specified is invalid");
            throw console.failure(
                    " Max completion vector = " + last,
                    context.device().name() + " has completion vectors 0 to " + last + "; use one of them with -X");
        }
    }

    // ---- over the connection manager

    private static PerftestSession byConnectionManager(Settings settings, Console console) throws ToolFailure {
        AddressInformation addresses = lookUp(settings, console);
        InetSocketAddress destination = addresses.destination();
        CmControlChannel control = settings.isClient()
                ? connect(addresses, Objects.requireNonNull(destination), settings, console)
                : accept(Objects.requireNonNull(addresses.source()), settings, console);
        DeviceContext context = control.id().verbs();
        Gid gid = Gid.of(Objects.requireNonNull(control.id().localAddress()).getAddress());
        int index = settings.gidIndex != Settings.NONE
                ? settings.gidIndex
                : Math.max(0, context.gidIndex(control.id().portNumber(), gid));
        InetSocketAddress local = settings.isClient()
                ? Objects.requireNonNullElse(addresses.source(), new InetSocketAddress(0))
                : Objects.requireNonNull(addresses.source());
        return new PerftestSession(control, context, false, index, gid, local, destination);
    }

    private static AddressInformation lookUp(Settings settings, Console console) throws ToolFailure {
        String source = settings.source == null ? null : numericAddress(settings.source, settings, console);
        if (source == null && settings.ipv6 && !settings.isClient()) {
            source = "::";
        }
        String server = settings.server == null ? null : numericAddress(settings.server, settings, console);
        try {
            return CmAddresses.lookUp(
                    source, server, String.valueOf(settings.port), EnumSet.noneOf(Flag.class), PortSpace.TCP);
        } catch (AddressLookupException e) {
            console.error(e.reason().text() + " for " + settings.server + ":" + settings.port);
            throw console.failure("Problem in resolving basic address and port", e.getMessage());
        } catch (RdmaException e) {
            throw console.failure("Problem in resolving basic address and port", e);
        }
    }

    private static CmId createId(Console console) {
        return console.environment().rdma().connectionManager().createId(PortSpace.TCP);
    }

    private static CmControlChannel connect(
            AddressInformation addresses, InetSocketAddress destination, Settings settings, Console console)
            throws ToolFailure {
        CmId id = console.call("rdma_create_id failed", () -> createId(console));
        try {
            id.resolveAddress(addresses.source(), destination, RESOLUTION);
            id.resolveRoute(RESOLUTION);
            checkVector(id.verbs(), settings, console);
            return CmControlChannel.connect(console, id, settings.completionVector);
        } catch (ToolFailure e) {
            id.close();
            throw e;
        } catch (RdmaException e) {
            id.close();
            console.error(" Unable to perform rdma_client function");
            throw console.failure(NO_CONNECTION, e);
        }
    }

    private static CmControlChannel accept(InetSocketAddress local, Settings settings, Console console)
            throws ToolFailure {
        CmId listener = console.call("rdma_create_id failed", () -> createId(console));
        try {
            listener.bindAddress(local);
            listener.listen(1);
            return accept(listener.getRequest(), settings, console);
        } catch (RdmaException e) {
            console.error(" Unable to perform rdma_server function");
            throw console.failure(NO_CONNECTION, e);
        } finally {
            listener.close();
        }
    }

    private static CmControlChannel accept(CmId request, Settings settings, Console console) throws ToolFailure {
        try {
            checkVector(request.verbs(), settings, console);
        } catch (ToolFailure e) {
            request.close();
            throw e;
        }
        return CmControlChannel.accept(console, request, settings.completionVector);
    }

    // ---- over TCP

    private static PerftestSession byTcp(Settings settings, Console console) throws ToolFailure {
        String server = settings.server;
        InetSocketAddress local = new InetSocketAddress(
                settings.source == null ? wildcard(settings.ipv6) : address(settings.source, settings, console),
                settings.port);
        InetSocketAddress remote =
                server == null ? null : new InetSocketAddress(address(server, settings, console), settings.port);
        try {
            TcpControlChannel control = control(settings, console, local, remote);
            try {
                return withDevice(settings, console, control, local, remote);
            } catch (ToolFailure e) {
                control.close();
                throw e;
            }
        } catch (IOException e) {
            console.error(
                    remote == null
                            ? "Couldn't listen to port " + settings.port
                            : "Couldn't connect to " + server + ":" + settings.port);
            throw console.failure(
                    "Unable to open file descriptor for socket connection" + NO_CONNECTION, e.getMessage());
        }
    }

    private static TcpControlChannel control(
            Settings settings, Console console, InetSocketAddress local, @Nullable InetSocketAddress remote)
            throws IOException {
        return AddressFamilies.call(() -> remote == null
                ? TcpControlChannel.accept(console, local)
                : TcpControlChannel.connect(console, settings.source == null ? null : local.getAddress(), remote));
    }

    private static InetAddress wildcard(boolean ipv6) {
        return InetAddress.ofLiteral(ipv6 ? "::" : "0.0.0.0");
    }

    private static String numericAddress(String host, Settings settings, Console console) throws ToolFailure {
        return address(host, settings, console).getHostAddress();
    }

    private static InetAddress address(String host, Settings settings, Console console) throws ToolFailure {
        try {
            return HostAddresses.preferred(
                    host, settings.ipv6 ? StandardProtocolFamily.INET6 : StandardProtocolFamily.INET);
        } catch (HostAddresses.LookupException e) {
            console.error(e.getMessage() + " for " + host + ":" + settings.port);
            throw console.failure("Problem in resolving basic address and port");
        }
    }

    private static PerftestSession withDevice(
            Settings settings,
            Console console,
            TcpControlChannel control,
            InetSocketAddress local,
            @Nullable InetSocketAddress remote)
            throws IOException, ToolFailure {
        Device device = device(settings, console.environment().rdma(), control.localAddress());
        DeviceContext context = console.call(" Couldn't get context for the device", device::open);
        try {
            return withContext(settings, console, control, context, local, remote);
        } catch (ToolFailure | IOException e) {
            context.close();
            throw e;
        }
    }

    private static PerftestSession withContext(
            Settings settings,
            Console console,
            TcpControlChannel control,
            DeviceContext context,
            InetSocketAddress local,
            @Nullable InetSocketAddress remote)
            throws IOException, ToolFailure {
        checkVector(context, settings, console);
        InetAddress address = control.localAddress();
        List<Gid> gids = console.call(" Couldn't get context for the device", () -> context.gids(settings.devicePort));
        int index = settings.gidIndex != Settings.NONE ? settings.gidIndex : gidIndex(gids, address, settings.ipv6);
        if (index >= gids.size() || gids.get(index).equals(Gid.ZERO)) {
            throw console.failure(
                    " Unable to set up socket connection",
                    context.device().name() + " has no GID at index " + index + "; ibv_devinfo -v lists them");
        }
        return new PerftestSession(control, context, true, index, gids.get(index), local, remote);
    }

    /**
     * Returns the device of {@code -d}. Without it, returns the device that has the local address of the control
     * connection, or the first device if there is no such device.
     */
    private static Device device(Settings settings, RdmaAccess rdma, InetAddress address) {
        List<Device> devices = rdma.devices();
        if (settings.device != null) {
            return devices.stream()
                    .filter(device -> device.name().equals(settings.device))
                    .findFirst()
                    .orElseThrow();
        }
        Optional<Device> owner = rdma.deviceOf(address);
        return devices.stream()
                .filter(device -> owner.isPresent() && owner.get().name().equals(device.name()))
                .findFirst()
                .orElse(devices.getFirst());
    }

    /** Returns the index of the address' GID or, if there is none, of the first GID of the family. The default is 0. */
    private static int gidIndex(List<Gid> gids, InetAddress address, boolean ipv6) {
        int index = gids.indexOf(Gid.of(address));
        if (index >= 0) {
            return index;
        }
        for (int i = 0; i < gids.size(); i++) {
            if (!gids.get(i).equals(Gid.ZERO) && gids.get(i).isIpv4() != ipv6) {
                return i;
            }
        }
        return 0;
    }

    @Override
    public void close() {
        control.close();
        if (ownsContext) {
            context.close();
        }
    }
}

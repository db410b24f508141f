package io.rdma4j.harness.exec;

import io.rdma4j.harness.CaseFailure;
import io.rdma4j.harness.Command;
import io.rdma4j.harness.Host;
import io.rdma4j.harness.Stage;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;

/** Two hosts with a cable between their interfaces {@code eth0}. */
@SuppressWarnings("try") // closing may throw InterruptedException
final class ExecHosts implements AutoCloseable {
    /** The IPv4 address of the server's host. */
    static final String SERVER = "192.0.2.1";

    /** The IPv4 address of the client's host. */
    static final String CLIENT = "192.0.2.2";

    /** The IPv6 address of the server's host. */
    static final String SERVER_IPV6 = "fd00:db8::1";

    private static final String CLIENT_IPV6 = "fd00:db8::2";
    private static final String INTERFACE = "eth0";

    /** An empty folder hides /dev/infiniband of the machine. The first word of the command may change the mounts of the process. */
    private static final String HIDE_DEVICES =
            "[ ! -d /dev/infiniband ] || mount -t tmpfs none /dev/infiniband; eval \"$1\"; shift; exec \"$@\"";

    private final Host server;
    private final Host client;
    private final String group;

    private ExecHosts(Host server, Host client, String group) {
        this.server = server;
        this.client = client;
        this.group = group;
    }

    /** Creates the hosts. */
    static ExecHosts create() throws IOException, InterruptedException, CaseFailure {
        // perftest leaves these files behind, and cannot open those of another user.
        Files.deleteIfExists(Path.of("/tmp/xrc_domain_server"));
        Files.deleteIfExists(Path.of("/tmp/xrc_domain_client"));
        Host.removeStale();
        Host server = Host.create("server");
        ExecHosts hosts = new ExecHosts(
                server,
                Host.create("client"),
                Command.run(List.of("id", "-g", "nobody")).strip());
        server.run(
                "ip",
                "link",
                "add",
                INTERFACE,
                "type",
                "veth",
                "peer",
                "name",
                INTERFACE,
                "netns",
                hosts.client.name());
        hosts.connect(Side.SERVER);
        hosts.connect(Side.CLIENT);
        // The kernel reports the carrier up to a second later, and an interface without a carrier has no device.
        for (Side side : Side.values()) {
            Stage.await(Duration.ofSeconds(5), () -> hosts.hasCarrier(side), "the interfaces do not come up");
        }
        return hosts;
    }

    private Host host(Side side) {
        return side == Side.SERVER ? server : client;
    }

    /** Gives a host its addresses, unless it has them, and brings its interface up. */
    void connect(Side side) throws IOException, InterruptedException {
        boolean isServer = side == Side.SERVER;
        Host host = host(side);
        host.run("ip", "address", "replace", (isServer ? SERVER : CLIENT) + "/24", "dev", INTERFACE);
        host.run("ip", "address", "replace", (isServer ? SERVER_IPV6 : CLIENT_IPV6) + "/64", "dev", INTERFACE, "nodad");
        host.run("ip", "link", "set", INTERFACE, "up");
    }

    /** Takes the interface of a host down; the other one loses its carrier. */
    void disconnect(Side side) throws IOException, InterruptedException {
        host(side).run("ip", "link", "set", INTERFACE, "down");
    }

    boolean hasCarrier(Side side) throws IOException, InterruptedException {
        return host(side).run("ip", "link", "show", INTERFACE).contains("state UP");
    }

    boolean listensOnTcp(Side side, int port) throws IOException, InterruptedException {
        return !host(side).run("ss", "-Hltn", "sport = :" + port).isBlank();
    }

    /** Returns the sockets that hold UDP port 4791 with their processes, or an empty text. */
    String holdersOfRocePort(Side side) throws IOException, InterruptedException {
        return host(side).run("ss", "-Hulnp", "sport = :4791").strip();
    }

    /**
     * Returns the words that run a command on a host as the user nobody, with 64 KiB of locked memory.
     *
     * @param mounts a shell command that changes the mounts of the process, or an empty text
     */
    List<String> asUser(Side side, String mounts) {
        List<String> words = new ArrayList<>(host(side).prefix());
        words.addAll(List.of("unshare", "--mount", "sh", "-c", HIDE_DEVICES, "sh", mounts));
        words.addAll(List.of("prlimit", "--memlock=65536:65536", "--core=0"));
        words.addAll(List.of("setpriv", "--reuid", "nobody", "--regid", group, "--clear-groups"));
        words.addAll(List.of("env", "-u", "XDG_RUNTIME_DIR", "HOME=/nonexistent"));
        return words;
    }

    @Override
    public void close() throws IOException, InterruptedException {
        try {
            client.close();
        } finally {
            server.close();
        }
    }
}

package io.rdma4j.harness.interop;

import io.rdma4j.harness.Capture;
import io.rdma4j.harness.Case;
import io.rdma4j.harness.CaseFailure;
import io.rdma4j.harness.Guest;
import io.rdma4j.harness.Host;
import io.rdma4j.harness.Stage;
import io.rdma4j.harness.Surroundings;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import org.jspecify.annotations.Nullable;

/**
 * The hosts and guests of a run:
 *
 * <ul>
 *   <li>a host with a tap to the guest, whose interface eth0 has the device rxe0,
 *   <li>another host, far, with two links to the first one, near0 to far0 and near1 to far1, as with VLANs,
 *   <li>with {@code --peer c} a bridge in the place of Java's addresses, with a second guest.
 * </ul>
 */
@SuppressWarnings("try") // closing may throw InterruptedException
final class World implements Surroundings, AutoCloseable {
    private static final int MOST_REVIVALS = 3;
    private static final int PACKETS = 12;
    private static final int PACKET_LENGTH = 170;

    /** Runs with fewer cases may lose no packet by chance. */
    private static final int CASES_WITH_LOSS = 4;

    /** One pattern for all processes, since the emulated machine needs a third of a second to read all of /proc. */
    private static final String CLEAN_GUEST = """
            tools="rping|ucmatose|udaddy|mckey|rdma_x?(client|server)|cmtime|rstream|riostream|udpong|rcopy"
            tools="$tools|ib_[a-z]+_(bw|lat)|ibv_.*|timeout|rdma4j|java"
            for i in $(seq 50); do pkill -9 -x "$tools" 2>/dev/null || break; sleep 0.1; done
            rm -f /tmp/*.pid /tmp/*.out /tmp/*.err""";

    /**
     * The addresses of a machine on a link.
     *
     * @param ip4 IPv4
     * @param ip6 IPv6
     * @param linkLocal link-local, without the interface
     */
    record Addresses(String ip4, String ip6, String linkLocal) {}

    static final Addresses HOST = new Addresses("10.88.0.1", "fd00:88::1", "fe80::5054:ff:fe88:1");
    static final Addresses GUEST = new Addresses("10.88.0.2", "fd00:88::2", "fe80::5054:ff:fe88:2");
    static final Addresses IWARP = new Addresses("10.90.0.2", "fd00:90::2", "fe80::5054:ff:fe90:2");
    static final Addresses NEAR = new Addresses("10.89.0.1", "fd00:89::1", "fe80::5054:ff:fe89:1");
    static final Addresses FAR = new Addresses("10.89.0.2", "fd00:89::2", "fe80::5054:ff:fe89:2");

    /** The name of the first host. */
    static final String HOST_NAME = "near";

    /** The address of the first host when a second guest has that of Java. */
    private static final String CONTROL = "10.88.0.254";

    final Setting setting;
    final Path folder;
    final Programs programs;
    private final Host host = Host.create(HOST_NAME);
    private final Host far = Host.create("far");
    private @Nullable Guest guest;
    private @Nullable Guest peer;
    private @Nullable Roles roles;
    private @Nullable Capture capture;
    private long dropped;
    private int lossy;

    /**
     * Creates the hosts and, if the cases need it, the guest.
     *
     * @param folder the folder of the run's output
     */
    World(Setting setting, Path folder, boolean hasGuest) throws IOException, InterruptedException {
        this.setting = setting;
        this.folder = folder;
        programs = new Programs(setting, folder);
        Files.createDirectories(folder.resolve("classes")); // before the guest reads the folder
        connectFar();
        if (hasGuest) {
            bootGuests();
        }
    }

    private void connectFar() throws IOException, InterruptedException {
        for (int link = 0; link < 2; link++) {
            String near = "near" + link;
            host.run("ip", "link", "add", near, "type", "veth", "peer", "name", "far" + link, "netns", far.name());
            host.run("ip", "link", "set", near, "address", "52:54:00:89:00:01", "up");
            far.run("ip", "link", "set", "far" + link, "address", "52:54:00:89:00:02", "up");
        }
        address(host, NEAR, "near0");
        address(far, FAR, "far0");
    }

    private static void address(Host host, Addresses addresses, String device)
            throws IOException, InterruptedException {
        host.run("ip", "addr", "add", addresses.ip4() + "/24", "dev", device);
        host.run("ip", "-6", "addr", "add", addresses.ip6() + "/64", "dev", device, "nodad");
    }

    private void bootGuests() throws IOException, InterruptedException {
        long begin = System.nanoTime();
        host.run("ip", "tuntap", "add", "dev", "tap0", "mode", "tap");
        if (setting.isPeerC()) {
            host.run("ip", "link", "add", "br0", "type", "bridge");
            host.run("ip", "tuntap", "add", "dev", "tap1", "mode", "tap");
            for (String tap : List.of("tap0", "tap1")) {
                host.run("ip", "link", "set", tap, "master", "br0", "up");
            }
            host.run("ip", "link", "set", "br0", "up");
            host.run("ip", "addr", "add", CONTROL + "/24", "dev", "br0");
        } else {
            host.run("ip", "link", "set", "tap0", "address", "52:54:00:88:00:01", "up");
            address(host, HOST, "tap0");
        }
        mtuOfTaps(setting.mtu());
        guest = newGuest("guest", "tap0", "02", GUEST);
        guest.boot();
        if (setting.isPeerC()) {
            peer = newGuest("peer", "tap1", "01", HOST);
            peer.boot();
            peer.awaitUp();
        }
        guest.awaitUp();
        System.out.printf(
                Locale.ROOT,
                "guest up in %.1f s: Linux %s, %s%n",
                (System.nanoTime() - begin) / 1e9,
                setting.kernel().release(),
                programsOfGuest());
    }

    private Guest newGuest(String name, String tap, String macEnd, Addresses addresses) {
        Guest.Card card = new Guest.Card(tap, macEnd, addresses.ip4(), addresses.ip6(), setting.mtu());
        Path scripts = setting.home().resolve("checks/interop/lib");
        return new Guest(name, host, setting.kernel(), card, setting.mebibytes(), scripts, folder);
    }

    /** Returns the version of rdma-core in the guest. */
    private String programsOfGuest() throws IOException, InterruptedException {
        Path layer = setting.kernel().layer();
        String text = layer == null
                ? guest().call("dpkg-query -W -f '${Package} ${Version}' rdmacm-utils")
                        .output()
                : Files.readString(layer.resolve("complete"));
        return text.strip();
    }

    // ---- hosts and guests

    /** Returns the guest. */
    Guest guest() throws IOException {
        return require(guest);
    }

    private static Guest require(@Nullable Guest guest) throws IOException {
        if (guest == null) {
            throw new IOException("the run has no such guest");
        }
        return guest;
    }

    /** Returns the guest of a side. */
    Guest guest(Side side) throws IOException {
        return require(side == Side.HOST ? peer : guest);
    }

    /** Returns the host of a side that is in no guest. */
    Host host(Side side) {
        return side == Side.FAR ? far : host;
    }

    /** Sets the MTU of both ends of the link to the guest; rxe0 takes it from its interface. */
    void mtu(int mtu) throws CaseFailure, IOException, InterruptedException {
        mtuOfTaps(mtu);
        for (Guest each : guests()) {
            each.require("the guest cannot have this MTU", "ip link set eth0 mtu " + mtu);
        }
    }

    private void mtuOfTaps(int mtu) throws IOException, InterruptedException {
        for (String device : setting.isPeerC() ? List.of("tap0", "tap1", "br0") : List.of("tap0")) {
            host.run("ip", "link", "set", device, "mtu", Integer.toString(mtu));
        }
    }

    private List<Guest> guests() {
        List<Guest> guests = new ArrayList<>();
        if (guest != null) {
            guests.add(guest);
        }
        if (peer != null) {
            guests.add(peer);
        }
        return guests;
    }

    // ---- faults

    void begin(Fault fault) throws CaseFailure, IOException, InterruptedException {
        fault.begin(host, guest());
        if (fault.drops()) {
            lossy++;
        }
    }

    /** Takes a fault away, and returns the number of dropped packets. */
    long end(Fault fault) throws IOException, InterruptedException {
        long count = fault.end(host, guest());
        dropped += count;
        return count;
    }

    @Override
    public List<String> faults() {
        if (lossy < CASES_WITH_LOSS || dropped > 0) {
            return List.of();
        }
        System.out.println("No packet was dropped in any case with loss: the fault injection does not work.");
        return List.of("fault injection");
    }

    // ---- around each case

    /** Prepares a case: a guest that replies, and a capture. No packet leaves the guest if both sides are in it. */
    void begin(Roles of, Stage stage) throws IOException, InterruptedException {
        roles = of;
        if (of.needsGuest() && !guest().answers()) {
            revive();
        }
        boolean staysInside = setting.isInGuest(of.server())
                && setting.isInGuest(of.client())
                && guest(of.server()) == guest(of.client());
        if (!staysInside) {
            capture = Capture.start(host, of.needsGuest() ? "tap0" : "any", captureOf(stage));
        }
    }

    /** Returns the file of a case's capture. */
    static Path captureOf(Stage stage) {
        return stage.folder().resolve("capture.pcap");
    }

    /** Replaces a guest whose network card has stopped ("NETDEV WATCHDOG" in its console), a fault of the emulation. */
    private void revive() throws IOException, InterruptedException {
        if (guest().boots() > MOST_REVIVALS) {
            throw new IOException("too many guests have stopped; their consoles are in " + folder);
        }
        guest().boot();
        guest().awaitUp();
    }

    private boolean isGuestUsed() {
        return guest != null && roles != null && roles.needsGuest();
    }

    /** Ends all processes of a case in the guests, so that they cannot affect the next one, and the capture. */
    @Override
    public void end(Case ended, Stage stage) throws IOException, InterruptedException {
        if (isGuestUsed()) {
            endGuestPrograms();
        }
        if (capture != null) {
            capture.close();
            capture = null;
        }
    }

    /** Ends all processes of a case in the guests. */
    void endGuestPrograms() throws IOException, InterruptedException {
        for (Guest each : guests()) {
            var _ = each.call(CLEAN_GUEST, Duration.ofSeconds(30));
        }
    }

    @Override
    public @Nullable String replaced(Case failed) throws IOException, InterruptedException {
        if (!isGuestUsed() || guest().answers()) {
            return null;
        }
        revive();
        return "the guest did not answer any more: once more with a new one";
    }

    @Override
    public List<String> report(Case failed, Stage stage) throws IOException, InterruptedException {
        if (isGuestUsed()) {
            Files.writeString(
                    stage.folder().resolve("guest-dmesg.txt"),
                    guest().call("dmesg | tail -n 30").output());
        }
        if (!Files.exists(captureOf(stage))) {
            return List.of();
        }
        List<String> packets = Capture.lines(captureOf(stage), "");
        Files.write(stage.folder().resolve("packets.txt"), packets);
        List<String> lines = new ArrayList<>(List.of("last packets of " + captureOf(stage) + ":"));
        for (String line : packets.subList(Math.max(0, packets.size() - PACKETS), packets.size())) {
            lines.add("    " + (line.length() > PACKET_LENGTH ? line.substring(0, PACKET_LENGTH) : line));
        }
        return lines;
    }

    @Override
    public void close() throws IOException, InterruptedException {
        try {
            far.close();
        } finally {
            host.close();
        }
    }
}

package io.rdma4j.soft.device;

import io.rdma4j.link.InterfaceView;
import io.rdma4j.link.Interfaces;
import io.rdma4j.link.LinkDecorator;
import io.rdma4j.link.LinkOptions;
import io.rdma4j.link.LinkSet;
import io.rdma4j.link.LinkSets;
import io.rdma4j.soft.SecurityOptions;
import io.rdma4j.soft.SoftOptions;
import io.rdma4j.soft.engine.Engine;
import io.rdma4j.soft.engine.Engines;
import io.rdma4j.soft.engine.Sharing;
import io.rdma4j.soft.share.RunDirectory;
import io.rdma4j.soft.share.SystemFailure;
import io.rdma4j.verbs.Errno;
import io.rdma4j.verbs.Gid;
import io.rdma4j.verbs.RdmaException;
import java.io.IOException;
import java.net.InetAddress;
import java.net.NetworkInterface;
import java.net.SocketException;
import java.security.SecureRandom;
import java.time.Instant;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** The software devices of this process and the engine that drives them. Thread safe. */
public final class SoftDevices {
    /** Identifier of this process, the base of its devices' GUIDs. */
    static final long PROCESS_GUID = ProcessGuid.draw(new SecureRandom());

    private static final Map<String, SoftDevice> DEVICES = new LinkedHashMap<>();

    private static final InterfaceWatch WATCH = new InterfaceWatch();

    private static @Nullable Engines engines;

    /** Volatile: asked for under the locks of engines, which must not wait for the monitor of this class. */
    private static volatile @Nullable PeerReputation peerReputation;

    private SoftDevices() {}

    /** Identifier of this process, by which peers tell a restarted process from the one before. */
    public static long processGuid() {
        return PROCESS_GUID;
    }

    /** What this process knows of its peers. */
    public static PeerReputation peerReputation() {
        PeerReputation known = peerReputation;
        return known != null ? known : firstPeers();
    }

    private static synchronized PeerReputation firstPeers() {
        PeerReputation known = peerReputation;
        if (known == null) {
            SecurityOptions options = SoftOptions.settleSecurity();
            known = new PeerReputation(options.sourcePort(), options.violations(), SoftDevices::isOwnAddress);
            peerReputation = known;
        }
        return known;
    }

    /** The main engine of this process, started at the first call. */
    public static Engine engine() {
        return engines().main();
    }

    /**
     * The engines of this process, the main one started at the first call.
     *
     * @throws RdmaException if it cannot be started; nothing is kept then, and the next call tries again
     */
    public static synchronized Engines engines() {
        Engines running = engines;
        if (running == null) {
            running = start(openDecorator());
            engines = running;
            finishAtExit(running);
        }
        return running;
    }

    /** See {@link SoftOptions#closeCapture}. */
    public static void closeCapture() throws IOException {
        Engines running = started();
        if (running != null && running.decorator().captures()) {
            running.sendWhatIsLeft();
            running.decorator().close();
        }
    }

    private static synchronized @Nullable Engines started() {
        return engines;
    }

    private static Engines start(LinkDecorator decorator) {
        Sharing sharing = null;
        boolean done = false;
        try {
            sharing = new Sharing(RunDirectory.open(), new SecureRandom());
            Engines started = new Engines(engineCount(), SoftDevices::openLinks, decorator, sharing);
            done = true;
            return started;
        } finally {
            if (!done) {
                if (sharing != null) {
                    sharing.close();
                }
                closeQuietly(decorator);
            }
        }
    }

    private static void closeQuietly(LinkDecorator decorator) {
        try {
            decorator.close();
        } catch (IOException incomplete) {
            // A capture without a packet: why there is none is told by another exception.
            return;
        }
    }

    /** One for each processor, but two at least: what works on a small machine shall be what works on a large one. */
    private static int engineCount() {
        return Math.clamp(Runtime.getRuntime().availableProcessors(), 2, Engines.MOST);
    }

    private static void finishAtExit(Engines running) {
        try {
            Runtime.getRuntime()
                    .addShutdownHook(new Thread(
                            () -> {
                                WATCH.end();
                                running.finish();
                            },
                            "rdma4j-finish"));
        } catch (IllegalStateException ending) {
            // The process ends already: what this engine will owe, nobody can send in time.
            return;
        }
    }

    private static LinkSet openLinks() {
        try {
            return LinkSets.best();
        } catch (IllegalArgumentException wrong) {
            throw SoftOptions.refusal(wrong);
        } catch (IOException e) {
            throw SystemFailure.of("ibv_open_device", "open sockets for the software device", e, "");
        }
    }

    private static LinkDecorator openDecorator() {
        LinkOptions options = SoftOptions.settle();
        try {
            return new LinkDecorator(options, System::nanoTime, SoftDevices::epochNanos, SoftDevices::print);
        } catch (IOException e) {
            throw new RdmaException(
                    "ibv_open_device", Errno.EIO, String.valueOf(e.getMessage()), "Name another capture file", e);
        }
    }

    /** {@link System#err} as it is now, not as it was when the engines were started. */
    private static void print(String line) {
        System.err.println(line);
    }

    private static long epochNanos() {
        Instant now = Instant.now();
        return now.getEpochSecond() * 1_000_000_000L + now.getNano();
    }

    /**
     * A device for each network interface that is up and has an address.
     *
     * @throws RdmaException with {@link Errno#EMFILE} if descriptors are lacking, {@link Errno#EIO} if the system does not
     *     list its interfaces for another reason
     */
    public static synchronized List<SoftDevice> list() {
        List<SoftDevice> present = new ArrayList<>();
        for (NetworkInterface network : interfaces()) {
            if (isUp(network) && network.getInetAddresses().hasMoreElements()) {
                present.add(device(network.getName(), network.getIndex()));
            }
        }
        return present;
    }

    private static List<NetworkInterface> interfaces() {
        try {
            return Interfaces.all();
        } catch (SocketException e) {
            throw unlistable(e);
        }
    }

    private static boolean isUp(NetworkInterface network) {
        try {
            return network.isUp();
        } catch (SocketException e) {
            if (SystemFailure.lacksDescriptors(e)) {
                throw unlistable(e);
            }
            // It went away since the list was made.
            return false;
        }
    }

    private static RdmaException unlistable(SocketException cause) {
        return SystemFailure.of("ibv_get_device_list", "list the network interfaces of this host", cause, "");
    }

    /**
     * Whether there is a device; the same as a list that is not empty, but for whoever asks often.
     *
     * @throws RdmaException as {@link #list}
     */
    public static boolean isAny() {
        try {
            return Interfaces.isAnyUp();
        } catch (SocketException e) {
            // An interface went away while it was looked at.
            return !list().isEmpty();
        }
    }

    /**
     * The device that has a local address, or null.
     *
     * @throws RdmaException as {@link #list}
     */
    public static synchronized @Nullable SoftDevice of(InetAddress address) {
        if (address.isAnyLocalAddress() || address.isMulticastAddress()) {
            return null;
        }
        InterfaceView network;
        try {
            network = Interfaces.recent(address);
        } catch (SocketException e) {
            throw unlistable(e);
        }
        if (network == null) {
            return null;
        }
        SoftDevice device = device(network.name(), network.index());
        device.require(address);
        return device;
    }

    private static boolean isOwnAddress(Gid address) {
        InetAddress named = address.toInetAddress();
        try {
            return named.isLoopbackAddress() || Interfaces.recent(named) != null;
        } catch (SocketException e) {
            // Unknown just now: all processes of this host would suffer if it were taken for a foreign one.
            return true;
        }
    }

    private static SoftDevice device(String networkName, int index) {
        SoftDevice known = DEVICES.get(networkName);
        if (known != null && known.networkIndex() == index) {
            return known;
        }
        // None, or one whose interface has gone and come back as another.
        SoftDevice fresh = new SoftDevice(networkName, index);
        DEVICES.put(networkName, fresh);
        return fresh;
    }

    /** Tells what becomes of the devices. */
    public static InterfaceWatch watch() {
        return WATCH;
    }

    /** All devices that were ever listed and have not gone. */
    static synchronized List<SoftDevice> known() {
        return List.copyOf(DEVICES.values());
    }

    /** A device has gone. */
    static synchronized void forget(SoftDevice device) {
        DEVICES.remove(device.networkName(), device);
    }
}

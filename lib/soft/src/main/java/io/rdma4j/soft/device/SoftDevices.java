package io.rdma4j.soft.device;

import io.rdma4j.link.decorator.LinkDecorator;
import io.rdma4j.link.decorator.LinkOptions;
import io.rdma4j.link.host.InterfaceView;
import io.rdma4j.sharing.RunDirectory;
import io.rdma4j.sharing.Sharing;
import io.rdma4j.sharing.SharingException;
import io.rdma4j.soft.engine.Engine;
import io.rdma4j.soft.engine.Engines;
import io.rdma4j.soft.engine.SharedPorts;
import io.rdma4j.soft.gsi.GsiQueuePair;
import io.rdma4j.soft.gsi.MulticastGroups;
import io.rdma4j.soft.host.HostNetwork;
import io.rdma4j.soft.host.ObjectObserver;
import io.rdma4j.soft.host.SystemFailure;
import io.rdma4j.soft.options.SecurityOptions;
import io.rdma4j.value.Gid;
import io.rdma4j.verbs.ClosedException;
import io.rdma4j.verbs.DeviceContext;
import io.rdma4j.verbs.Errno;
import io.rdma4j.verbs.RdmaException;
import java.io.IOException;
import java.net.InetAddress;
import java.net.SocketException;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;

/** The software devices of a stack, and the engines that drive them. Thread safe. */
public final class SoftDevices implements AutoCloseable {
    private static final int SHARED_RECEIVE_NUMBERS = 0xff_ffff;

    private final StackSettings settings;
    private final long guid;
    private final Map<String, SoftDevice> devices = new LinkedHashMap<>();
    private final InterfaceWatch watch = new InterfaceWatch(this);
    private final AttackWarnings warnings;
    private final Set<SoftContext> contexts = ConcurrentHashMap.newKeySet();
    private final AtomicInteger nextDomain = new AtomicInteger(1);

    /** Starts at a random number, so that the next process does not soon use the same numbers. */
    private final AtomicInteger nextSharedReceive;

    /** The running parts; guarded by this object, like {@link #closed}. */
    private @Nullable RunningStack running;

    private boolean closed;
    private @Nullable SecurityOptions security;

    /** Volatile, because threads that hold an engine's lock use it and must not wait for the monitor of this object. */
    private volatile @Nullable PeerReputation peerReputation;

    /** Creates the devices of a stack; opens nothing yet. */
    public SoftDevices(StackSettings settings) {
        this.settings = settings;
        guid = ProcessGuid.draw(settings.random());
        nextSharedReceive = new AtomicInteger(settings.random().nextInt(1, 1 << 23));
        warnings = new AttackWarnings(settings.clock());
    }

    /** Returns the identifier of this stack, by which peers distinguish a restarted process from its predecessor. */
    public long guid() {
        return guid;
    }

    /**
     * Returns the limits on what peers may do; the first call fixes them.
     *
     * @throws RdmaException {@code EINVAL} if an option is invalid; nothing is fixed then
     */
    public synchronized SecurityOptions security() {
        SecurityOptions known = security;
        if (known == null) {
            known = settings.security().get();
            security = known;
        }
        return known;
    }

    /** Returns a number for a new protection domain. */
    int newDomainNumber() {
        return nextDomain.getAndIncrement();
    }

    /** Returns a number for a new shared receive queue of extended connections, 24 bits. */
    int newSharedReceiveNumber() {
        return nextSharedReceive.getAndIncrement() & SHARED_RECEIVE_NUMBERS;
    }

    /** Returns the network interfaces and routes of the host. */
    public HostNetwork host() {
        return settings.host();
    }

    /** Returns the observer of the objects that the program creates and closes. */
    public ObjectObserver objects() {
        return settings.objects();
    }

    /** Returns the logger of possible attacks. */
    public AttackWarnings warnings() {
        return warnings;
    }

    /** Returns the information of this stack about its peers. */
    public PeerReputation peerReputation() {
        PeerReputation known = peerReputation;
        return known != null ? known : createPeerReputation();
    }

    private synchronized PeerReputation createPeerReputation() {
        PeerReputation known = peerReputation;
        if (known == null) {
            SecurityOptions options = security();
            known = new PeerReputation(
                    options.sourcePort(),
                    options.violations(),
                    StackSettings.congestion(),
                    StackSettings.keepAlive(),
                    this::isLocalAddress);
            peerReputation = known;
        }
        return known;
    }

    /** Returns the main engine, which the first call starts. */
    public Engine engine() {
        return engines().main();
    }

    /**
     * Returns the engines. The first call starts the main engine.
     *
     * @throws RdmaException as {@link #running}
     */
    public Engines engines() {
        return running().engines();
    }

    /**
     * Returns the running parts of the stack. The first call starts the main engine.
     *
     * @throws RdmaException if the engine cannot be started; everything is then released, and the next call tries again. {@code
     *     EINVAL} if the stack is closed
     */
    public synchronized RunningStack running() {
        if (closed) {
            throw new ClosedException("ibv_open_device", "the stack is closed", "Create another stack");
        }
        RunningStack known = running;
        if (known == null) {
            known = start(openDecorator());
            running = known;
        }
        return known;
    }

    /** Returns the counters of the engines by name; none if the stack has not been used yet. */
    public Map<String, Long> counters() {
        RunningStack known = runningOrNull();
        return known == null ? Map.of() : known.counters();
    }

    /**
     * Closes the capture, if there is one. Later packets are not captured. Does nothing if the capture is closed
     * already.
     *
     * @throws IOException if packets are missing because the file could not be written, or if closing the file fails
     */
    public void closeCapture() throws IOException {
        RunningStack known = runningOrNull();
        if (known != null && known.engines().decorator().captures()) {
            known.engines().transmitPending();
            known.engines().decorator().close();
        }
    }

    private RunningStack start(LinkDecorator created) {
        Sharing sharing = null;
        boolean done = false;
        try {
            RunDirectory directory = settings.runDirectory().get();
            Sharing opened = new Sharing(directory, settings.random());
            sharing = opened;
            Engines started = new Engines(
                    engineCount(),
                    settings.links(),
                    created,
                    sharing.slot(),
                    settings.clock(),
                    settings.driver(),
                    settings.random());
            done = true;
            started.deviceFaultHandler(fault -> contexts.forEach(SoftContext::onDeviceFault));
            Engine main = started.main();
            return new RunningStack(
                    started,
                    opened,
                    new SharedPorts(main, opened, settings.host()),
                    GsiQueuePair.open(main),
                    MulticastGroups.open(main),
                    // A guardian that has just started reads the reports, and so makes the processes register.
                    new StackReports(contexts, directory, opened.slot(), opened::registerWithGuardian));
        } catch (SharingException refusal) {
            throw SystemFailure.of("ibv_open_device", refusal);
        } finally {
            if (!done) {
                if (sharing != null) {
                    sharing.close();
                }
                closeQuietly(created);
            }
        }
    }

    /**
     * Prepares for the exit of the process: sends what is pending, and keeps threads out of the kernel. The engines
     * continue to work for other shutdown hooks.
     */
    public void finish() {
        watch.end();
        RunningStack known = runningOrNull();
        if (known != null) {
            known.reports().finish();
            known.engines().finish();
            known.sharing().removeSocketFiles();
        }
    }

    /** Returns the running engines. */
    public List<Engine> runningEngineList() {
        RunningStack known = runningOrNull();
        return known == null ? List.of() : known.engines().all();
    }

    /** Keeps the files that this stack shares with other processes; see {@link Sharing#keepFiles}. */
    void keepFiles() {
        RunningStack known = runningOrNull();
        if (known != null) {
            known.sharing().keepFiles(settings.clock().nanoTime());
        }
    }

    private synchronized @Nullable RunningStack runningOrNull() {
        return running;
    }

    void onOpened(SoftContext context) {
        contexts.add(context);
        objects().onCreated(context);
    }

    void onClosed(SoftContext context) {
        contexts.remove(context);
        objects().onClosed(context);
    }

    /** Returns the open contexts. */
    public List<DeviceContext> openContexts() {
        return List.copyOf(contexts);
    }

    /** Stops the engines and closes their links. Contexts of the devices must be closed before. */
    @Override
    public void close() {
        RunningStack known;
        synchronized (this) {
            if (closed) {
                return;
            }
            closed = true;
            known = running;
        }
        watch.end();
        if (known != null) {
            known.reports().close();
            known.engines().close();
            known.sharing().close();
            closeQuietly(known.engines().decorator());
        }
    }

    private static void closeQuietly(LinkDecorator decorator) {
        try {
            decorator.close();
        } catch (IOException incomplete) {
            // closeCapture reports an incomplete capture, and another exception the reason of an empty one.
            return;
        }
    }

    /** Returns one engine for each processor, but at least two, so that small machines behave like large ones. */
    private static int engineCount() {
        return Math.clamp(Runtime.getRuntime().availableProcessors(), 2, Engines.MAX_ENGINES);
    }

    private LinkDecorator openDecorator() {
        LinkOptions options = settings.linkOptions().get();
        try {
            return new LinkDecorator(
                    options, settings.clock()::nanoTime, settings.clock()::epochNanos, SoftDevices::print);
        } catch (IOException e) {
            throw new RdmaException(
                    "ibv_open_device", Errno.EIO, String.valueOf(e.getMessage()), "Use another capture file", e);
        }
    }

    /** Prints to the current {@link System#err}, even if it has changed since the engines were started. */
    private static void print(String line) {
        System.err.println(line);
    }

    /**
     * Returns a device for each network interface that is up and has an address.
     *
     * @throws RdmaException with {@link Errno#EMFILE} if no file descriptor is left, {@link Errno#EIO} if the system does not
     *     list its interfaces for another reason
     */
    public synchronized List<SoftDevice> list() {
        List<SoftDevice> present = new ArrayList<>();
        for (InterfaceView network : interfaces()) {
            if (isUp(network) && !network.addresses().isEmpty()) {
                present.add(device(network));
            }
        }
        return present;
    }

    private List<InterfaceView> interfaces() {
        try {
            return settings.host().interfaces();
        } catch (SocketException e) {
            throw unlistable(e);
        }
    }

    private static boolean isUp(InterfaceView network) {
        try {
            return network.isUp();
        } catch (SocketException e) {
            if (SystemFailure.lacksDescriptors(e)) {
                throw unlistable(e);
            }
            // It was removed after the list was created.
            return false;
        }
    }

    private static RdmaException unlistable(SocketException cause) {
        return SystemFailure.of("ibv_get_device_list", "list the network interfaces of this host", cause, "");
    }

    /**
     * Returns whether there is a device. Equivalent to a list that is not empty, but cheaper for frequent calls.
     *
     * @throws RdmaException as {@link #list}
     */
    public boolean isAny() {
        try {
            return settings.host().isAnyUp();
        } catch (SocketException e) {
            // An interface was removed meanwhile.
            return !list().isEmpty();
        }
    }

    /**
     * Returns the device that has a local address, or null.
     *
     * @throws RdmaException as {@link #list}
     */
    public synchronized @Nullable SoftDevice of(InetAddress address) {
        if (address.isAnyLocalAddress() || address.isMulticastAddress()) {
            return null;
        }
        InterfaceView network;
        try {
            network = settings.host().recent(address);
        } catch (SocketException e) {
            throw unlistable(e);
        }
        if (network == null) {
            return null;
        }
        SoftDevice device = device(network);
        device.require(address);
        return device;
    }

    private boolean isLocalAddress(Gid address) {
        InetAddress named = address.toInetAddress();
        try {
            return named.isLoopbackAddress() || settings.host().recent(named) != null;
        } catch (SocketException e) {
            // Currently unknown: if a local address were taken for a remote one, all processes of this host would
            // suffer.
            return true;
        }
    }

    private SoftDevice device(InterfaceView network) {
        SoftDevice known = devices.get(network.name());
        if (known != null && known.networkIndex() == network.index()) {
            return known;
        }
        // No device, or one whose interface was removed and replaced.
        SoftDevice added = new SoftDevice(this, network);
        devices.put(network.name(), added);
        return added;
    }

    /** Returns the watch over the network interfaces of the devices. */
    public InterfaceWatch watch() {
        return watch;
    }

    /** Returns all devices that were ever listed and not removed. */
    synchronized List<SoftDevice> known() {
        return List.copyOf(devices.values());
    }

    /** Removes a device whose interface was removed. */
    synchronized void forget(SoftDevice device) {
        devices.remove(device.networkName(), device);
    }
}

package io.rdma4j.soft.device;

import io.rdma4j.link.host.InterfaceMonitor;
import io.rdma4j.link.host.InterfaceView;
import io.rdma4j.verbs.spi.SharedThread;
import java.net.InetAddress;
import java.net.SocketException;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Detects changes of the devices' network interfaces: removal, up, down (even briefly), changed addresses. Thread safe.
 *
 * <p>A scan takes a millisecond or two. The interfaces are therefore scanned when the kernel reports a change, or once a second
 * if the kernel sends no reports, and only while there are listeners (decision 031).
 */
public final class InterfaceWatch {
    /** The interval between scans if the kernel sends no reports. */
    private static final long INTERVAL_MILLIS = 1_000;

    /** The maximum interval between scans if the kernel sends reports: in a container it may not report everything. */
    private static final long MAX_INTERVAL_NANOS = 30_000_000_000L;

    /** The minimum interval between scans: related changes are reported in several messages. */
    private static final long PAUSE_MILLIS = 100;

    /** The maximum time for which the exit of the process waits for the thread. */
    private static final long ENDING_PATIENCE_MILLIS = 100;

    /** Listens to changes. Called in the watching thread, without locks. */
    public interface Listener {
        /**
         * The network interface was removed, or replaced by another one of the same name: the device will never work
         * again.
         */
        void onDeviceRemoved(SoftDevice device);

        /** The interface went up or down. */
        void onPortChanged(SoftDevice device, boolean isUp);

        /**
         * The addresses of the interface have changed.
         *
         * @param removed the addresses that it no longer has
         */
        void onAddressesChanged(SoftDevice device, Set<InetAddress> removed);

        /** The interface has another hardware address: a bond of several interfaces has failed over. */
        void onHardwareChanged(SoftDevice device);
    }

    /**
     * The state of an interface.
     *
     * @param timesUp how often its carrier has returned, which reveals changes between two scans; -1 if unknown. Losses of the
     *     carrier are not used: they are counted immediately, while the state follows within a second, so that they would be
     *     reported twice
     */
    private record View(int index, boolean isUp, long timesUp, Set<InetAddress> addresses, List<Byte> hardware) {
        static View of(InterfaceView network, long timesUp) throws SocketException {
            List<Byte> bytes = new ArrayList<>();
            for (byte each : network.hardwareAddress()) {
                bytes.add(each);
            }
            return new View(network.index(), network.isUp(), timesUp, Set.copyOf(network.addresses()), bytes);
        }

        View withoutAddresses() {
            return new View(index, isUp, timesUp, Set.of(), hardware);
        }

        /** Returns whether the interface was down for less than the time between two scans. */
        boolean hasFlappedSince(View before) {
            return isUp && before.isUp && before.timesUp >= 0 && timesUp > before.timesUp;
        }
    }

    private final SoftDevices devices;
    private final List<Listener> listeners = new ArrayList<>();
    private final Map<SoftDevice, View> views = new LinkedHashMap<>();
    private @Nullable Thread thread;
    private @Nullable InterfaceMonitor monitor;
    private boolean ended;

    InterfaceWatch(SoftDevices devices) {
        this.devices = devices;
    }

    /** Adds a listener of changes. */
    public synchronized void add(Listener listener) {
        listeners.add(listener);
        boolean starts = thread == null && !ended && devices.host().canChange();
        if (starts) {
            // Opened before the first scan, so that no later change is missed.
            monitor = devices.host().openInterfaceMonitor();
        }
        Map<String, InterfaceView> present = present();
        if (present != null) {
            remember(present);
        }
        if (starts) {
            InterfaceMonitor opened = monitor;
            Thread started = SharedThread.unstarted("rdma4j-interfaces", () -> awaitAndScan(opened));
            thread = started;
            started.start();
        }
    }

    /** Stops informing a listener. */
    public synchronized void remove(Listener listener) {
        listeners.remove(listener);
        if (listeners.isEmpty()) {
            stop();
            views.clear();
        }
    }

    private synchronized @Nullable Thread stop() {
        Thread stopped = thread;
        thread = null;
        if (stopped != null) {
            stopped.interrupt();
        }
        if (monitor != null) {
            monitor.close();
            monitor = null;
        }
        return stopped;
    }

    /**
     * Stops the watch because the process exits. The Java virtual machine would wait 0.3 s for a thread that is in the kernel.
     */
    void end() {
        Thread stopped;
        synchronized (this) {
            ended = true;
            stopped = stop();
        }
        try {
            if (stopped != null) {
                stopped.join(ENDING_PATIENCE_MILLIS);
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    private boolean awaitAndScan(@Nullable InterfaceMonitor opened) throws InterruptedException {
        if (opened == null) {
            Thread.sleep(INTERVAL_MILLIS);
        } else {
            boolean _ = opened.await(MAX_INTERVAL_NANOS);
        }
        if (isCurrent()) {
            scan();
            devices.keepFiles();
            Thread.sleep(PAUSE_MILLIS);
        }
        return isCurrent();
    }

    private synchronized boolean isCurrent() {
        return Thread.currentThread().equals(thread);
    }

    /** Scans the interfaces, and reports the changes to all listeners. */
    void scan() {
        Map<String, InterfaceView> present = present();
        if (present == null) {
            return;
        }
        List<Listener> all;
        List<Runnable> changes = new ArrayList<>();
        synchronized (this) {
            all = List.copyOf(listeners);
            for (SoftDevice device : List.copyOf(views.keySet())) {
                compare(device, present.get(device.networkName()), all, changes);
            }
            remember(present);
        }
        if (!changes.isEmpty()) {
            // Listeners look the interfaces up, and must not get cached results.
            devices.host().invalidateCaches();
        }
        changes.forEach(Runnable::run);
    }

    /** Returns the interfaces by name, or null if the system fails to list them. */
    private @Nullable Map<String, InterfaceView> present() {
        try {
            Map<String, InterfaceView> present = new HashMap<>();
            devices.host().interfaces().forEach(network -> present.put(network.name(), network));
            return present;
        } catch (SocketException e) {
            // An interface was removed during the scan: the next scan sees the remaining ones.
            return null;
        }
    }

    /** Adds devices that were not scanned before. */
    private void remember(Map<String, InterfaceView> present) {
        for (SoftDevice device : devices.known()) {
            InterfaceView network = present.get(device.networkName());
            if (network != null && network.index() == device.networkIndex() && !views.containsKey(device)) {
                view(network, views, device);
            }
        }
    }

    private void view(InterfaceView network, Map<SoftDevice, View> into, SoftDevice device) {
        try {
            into.put(device, View.of(network, devices.host().carrierReturns(network)));
        } catch (SocketException e) {
            // It was removed after the list was created: the next scan finds it missing.
            return;
        }
    }

    private void compare(
            SoftDevice device, @Nullable InterfaceView network, List<Listener> all, List<Runnable> changes) {
        View before = views.get(device);
        if (network == null && before != null && devices.host().mayExistWithoutAddress(device.networkName())) {
            views.put(device, before.withoutAddresses());
        } else if (network == null || network.index() != device.networkIndex()) {
            views.remove(device);
            devices.forget(device);
            changes.add(() -> all.forEach(each -> each.onDeviceRemoved(device)));
            return;
        } else {
            view(network, views, device);
        }
        View now = views.get(device);
        if (before == null || now == null || now.equals(before)) {
            return;
        }
        if (now.isUp != before.isUp) {
            changes.add(() -> all.forEach(each -> each.onPortChanged(device, now.isUp)));
        }
        if (now.hasFlappedSince(before)) {
            changes.add(() -> all.forEach(each -> each.onPortChanged(device, false)));
            changes.add(() -> all.forEach(each -> each.onPortChanged(device, true)));
        }
        if (!now.addresses.equals(before.addresses)) {
            Set<InetAddress> removed = new HashSet<>(before.addresses);
            removed.removeAll(now.addresses);
            changes.add(() -> all.forEach(each -> each.onAddressesChanged(device, removed)));
        }
        if (!now.hardware.equals(before.hardware)) {
            changes.add(() -> all.forEach(each -> each.onHardwareChanged(device)));
        }
    }
}

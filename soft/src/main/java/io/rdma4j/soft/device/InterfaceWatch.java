package io.rdma4j.soft.device;

import io.rdma4j.link.InterfaceNews;
import io.rdma4j.link.InterfaceView;
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
 * Notices what becomes of the network interfaces under the devices: gone, up, down (also for a moment), with other
 * addresses. A look takes a millisecond or two, so it looks when the kernel says that there is something to see, and where the
 * kernel does not tell, once a second; and only while somebody wants to know. Thread safe.
 */
public final class InterfaceWatch {
    /** Between two looks where nobody tells. */
    private static final long INTERVAL_MILLIS = 1_000;

    /** Between two looks where the kernel tells: a container's may not tell all. */
    private static final long LONGEST_NANOS = 30_000_000_000L;

    /** From one look to the next at the least: what belongs together comes in several messages. */
    private static final long PAUSE_MILLIS = 100;

    /** How long the end of the process waits for the thread, as the engine's does for its own. */
    private static final long ENDING_PATIENCE_MILLIS = 100;

    /** Who wants to know. Called in the watching thread, without locks. */
    public interface Listener {
        /** The network interface has gone, or is another one of the same name: the device will never work again. */
        void onDeviceRemoved(SoftDevice device);

        /** The interface went up or down. */
        void onPortChanged(SoftDevice device, boolean isUp);

        /**
         * The addresses of the interface are not the same any more.
         *
         * @param gone those that it has no longer
         */
        void onAddressesChanged(SoftDevice device, Set<InetAddress> gone);

        /** The interface has another hardware address: a bond of several has failed over. */
        void onHardwareChanged(SoftDevice device);
    }

    /**
     * What an interface looked like.
     *
     * @param timesUp how often it has got its carrier back, which shows what happened between two looks; -1 if unknown.
     *     Losses are counted at once, while the state follows within a second: they would be told twice
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

        /** Whether the interface was down for less than the time between two looks. */
        boolean hasFlappedSince(View before) {
            return isUp && before.isUp && before.timesUp >= 0 && timesUp > before.timesUp;
        }
    }

    private final SoftDevices devices;
    private final List<Listener> listeners = new ArrayList<>();
    private final Map<SoftDevice, View> views = new LinkedHashMap<>();
    private @Nullable Thread thread;
    private @Nullable InterfaceNews news;
    private boolean ended;

    InterfaceWatch(SoftDevices devices) {
        this.devices = devices;
    }

    /** Keeps a listener informed of what happens from now on. */
    public synchronized void add(Listener listener) {
        listeners.add(listener);
        boolean begins = thread == null && !ended && devices.host().canChange();
        if (begins) {
            // Before the first look: what happens after it must be heard of.
            news = devices.host().openNews();
        }
        Map<String, InterfaceView> present = present();
        if (present != null) {
            remember(present);
        }
        if (begins) {
            InterfaceNews heard = news;
            Thread started = new Thread(() -> run(heard), "rdma4j-interfaces");
            started.setDaemon(true);
            started.start();
            thread = started;
        }
    }

    /** Informs a listener no more. */
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
        if (news != null) {
            news.close();
            news = null;
        }
        return stopped;
    }

    /**
     * The process ends: nothing is noticed any more, and no thread is in the kernel, which the Java virtual machine would wait
     * 0.3 s for.
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
        } catch (InterruptedException interrupted) {
            Thread.currentThread().interrupt();
        }
    }

    private void run(@Nullable InterfaceNews heard) {
        try {
            while (isCurrent()) {
                if (heard == null) {
                    Thread.sleep(INTERVAL_MILLIS);
                } else {
                    boolean _ = heard.await(LONGEST_NANOS);
                }
                if (isCurrent()) {
                    look();
                    Thread.sleep(PAUSE_MILLIS);
                }
            }
        } catch (InterruptedException over) {
            Thread.currentThread().interrupt();
        }
    }

    private synchronized boolean isCurrent() {
        return Thread.currentThread().equals(thread);
    }

    /** Looks, and tells everybody what has changed. */
    void look() {
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
            // Who hears of it looks, and must not be told what was before.
            devices.host().forget();
        }
        changes.forEach(Runnable::run);
    }

    /** By name; null if the system does not tell just now. */
    private @Nullable Map<String, InterfaceView> present() {
        try {
            Map<String, InterfaceView> present = new HashMap<>();
            devices.host().interfaces().forEach(network -> present.put(network.name(), network));
            return present;
        } catch (SocketException e) {
            // An interface went away while it was looked at: the next look sees what is left.
            return null;
        }
    }

    /** Takes in devices that were not looked at before. */
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
            // Gone since the list was made: the next look finds it missing.
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
            Set<InetAddress> gone = new HashSet<>(before.addresses);
            gone.removeAll(now.addresses);
            changes.add(() -> all.forEach(each -> each.onAddressesChanged(device, gone)));
        }
        if (!now.hardware.equals(before.hardware)) {
            changes.add(() -> all.forEach(each -> each.onHardwareChanged(device)));
        }
    }
}

package io.rdma4j.soft;

import io.rdma4j.cm.ConnectionManager;
import io.rdma4j.cm.spi.ManagerAccess;
import io.rdma4j.link.decorator.FaultSpec;
import io.rdma4j.link.decorator.LinkOptions;
import io.rdma4j.soft.cm.StackCmProvider;
import io.rdma4j.soft.device.SoftDevices;
import io.rdma4j.soft.device.StackAccess;
import io.rdma4j.soft.device.StackSettings;
import io.rdma4j.soft.host.RunDirectories;
import io.rdma4j.soft.options.SecurityOptions;
import io.rdma4j.soft.warmup.DataPathWarmUp;
import io.rdma4j.verbs.Device;
import io.rdma4j.verbs.DeviceContext;
import io.rdma4j.verbs.RdmaException;
import java.io.IOException;
import java.net.InetAddress;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.atomic.AtomicBoolean;

/**
 * A software RoCEv2 stack: the devices of this host's network interfaces, the engines that drive them, and connection
 * management over them (decision 034). Thread safe.
 *
 * <p>A stack opens sockets and starts threads when they are first needed, and releases them when it is closed. Several stacks in
 * one process are independent of each other, like stacks in separate processes: they share the host's addresses.
 */
public final class SoftStack implements AutoCloseable {
    /** System property with the limit of the warm-up of the stack of this process, in milliseconds. */
    public static final String WARM_UP_PROPERTY = "rdma4j.warmUpMillis";

    private static final System.Logger LOGGER = System.getLogger(SoftStack.class.getName());

    private final SoftDevices devices;
    private final StackCmProvider cmProvider;
    private final ConnectionManager connectionManager;
    private final AtomicBoolean closed = new AtomicBoolean();

    static {
        StackAccess.provide(new StackAccess() {
            @Override
            protected Object newStack(StackSettings settings) {
                return new SoftStack(settings);
            }

            @Override
            protected SoftDevices devicesOf(Object stack) {
                return ((SoftStack) stack).devices;
            }
        });
    }

    private SoftStack(StackSettings settings) {
        devices = new SoftDevices(settings);
        cmProvider = new StackCmProvider(devices);
        connectionManager = ManagerAccess.managerOf(cmProvider);
    }

    /** Creates a stack with the options that are set by the system properties and environment variables of this process. */
    public static SoftStack create() {
        return builder().build();
    }

    /**
     * Lets Java compile the code that moves data, so that the first operations of this process are as fast as later ones.
     *
     * <p>Without it, WRITEs of 64 KiB run for some seconds at a tenth of their later speed, and single operations take hundreds
     * of microseconds. The calling thread runs WRITEs, READs and SENDs between two private stacks over the loopback interface
     * until the compilers are idle or the limit is reached. Other stacks do not see these packets. If the warm-up is not
     * possible, this method logs a debug message to {@code io.rdma4j.soft.warmup.DataPathWarmUp} and returns.
     *
     * <p>A program that cannot call this method sets the system property {@value #WARM_UP_PROPERTY} to the limit in milliseconds.
     * The stack of the process then warms up before its first use.
     *
     * @param limit the maximum time; 3 seconds are enough on two processors
     * @throws IllegalArgumentException if the limit is negative
     */
    public static void warmUp(Duration limit) {
        if (limit.isNegative()) {
            throw new IllegalArgumentException("a warm-up of " + limit + " is not possible: use a positive limit");
        }
        DataPathWarmUp.run(limit);
    }

    /** Returns a builder with the options that the system properties and environment variables set. */
    public static Builder builder() {
        return new Builder();
    }

    /** Builds a stack with its own options. Not thread safe. */
    public static final class Builder {
        private StackSettings settings = StackSettings.ofProcess();

        private Builder() {}

        /** Writes all packets of the stack to a capture file for Wireshark; replaces the file. */
        public Builder capture(Path file) {
            settings = settings.withLinkOptions(options -> options.withCaptureFile(file));
            return this;
        }

        /**
         * Damages the packets that the stack sends and receives, repeatably.
         *
         * @param specification such as {@code loss=1%,seed=7}; the tools' option {@code --fault} takes the same
         * @throws IllegalArgumentException if the specification is malformed
         */
        public Builder faults(String specification) {
            FaultSpec faults = FaultSpec.parse(specification);
            settings = settings.withLinkOptions(options -> options.withFaults(faults));
            return this;
        }

        /** Prints a line for each packet to {@link System#err}. */
        public Builder trace() {
            settings = settings.withLinkOptions(LinkOptions::withTrace);
            return this;
        }

        /** Sends packets by UDP also to processes and stacks of this host, which otherwise get them through shared memory. */
        public Builder withoutSharedMemory() {
            settings = settings.withLinkOptions(LinkOptions::withoutSharedMemory);
            return this;
        }

        /**
         * Limits what peers may do.
         *
         * @param limits such as {@code source-port=enforce,request-rate=100}; the system property {@code rdma4j.security} takes the same
         * @throws IllegalArgumentException if an option is malformed
         */
        public Builder security(String limits) {
            settings = settings.withSecurity(SecurityOptions.parse(limits));
            return this;
        }

        /** Sets the directory through which processes and stacks of this host share addresses. */
        public Builder runDirectory(Path directory) {
            settings = settings.withRunDirectory(() -> RunDirectories.at(directory));
            return this;
        }

        /** Returns a new stack; opens nothing yet. */
        public SoftStack build() {
            return new SoftStack(settings);
        }
    }

    /**
     * Returns a device for each network interface that is up and has an address.
     *
     * @throws RdmaException {@code EMFILE} if no file descriptor is left, {@code EIO} if the system does not list its
     *     interfaces for another reason
     */
    public List<Device> devices() {
        return List.copyOf(devices.list());
    }

    /**
     * Returns whether the host has a network interface for a device.
     *
     * @throws RdmaException as {@link #devices}
     */
    public boolean hasDevices() {
        return devices.isAny();
    }

    /**
     * Returns the device that has a local address.
     *
     * @throws RdmaException as {@link #devices}
     */
    public Optional<Device> deviceOf(InetAddress address) {
        return Optional.ofNullable(devices.of(address));
    }

    /** Returns connection management over the devices of this stack. */
    public ConnectionManager connectionManager() {
        return connectionManager;
    }

    /**
     * Returns the counters of the stack, which have names that start with {@code process_} in {@link
     * io.rdma4j.verbs.DeviceContext#counters}: packets sent and received, in total and through shared memory, and packets
     * dropped, by reason. Empty if the stack has not been used yet. Any thread; the numbers may be slightly out of date.
     */
    public Map<String, Long> counters() {
        return devices.counters();
    }

    /**
     * Closes the capture, if there is one. Later packets are not captured. {@link #close} does the same, but does not report a
     * failure.
     *
     * @throws IOException if packets are missing from it because the file could not be written, or if closing the file fails
     */
    public void closeCapture() throws IOException {
        devices.closeCapture();
    }

    /**
     * Prepares for the end of the process: disconnects from all peers and sends the remaining packets. The stack continues to
     * work for other shutdown hooks. Returns within 0.3 seconds, even if a peer does not reply.
     */
    public void finish() {
        try {
            cmProvider.finish();
        } finally {
            devices.finish();
        }
    }

    /**
     * Returns the objects that a program has left open: device contexts and identifiers, as text. A stack that is about to be
     * closed should have none.
     */
    public List<String> openObjects() {
        List<String> open = new ArrayList<>(cmProvider.openIdentifiers());
        Set<AutoCloseable> ofManager = connectionManager.keptObjects();
        for (DeviceContext context : devices.openContexts()) {
            if (!ofManager.contains(context)) {
                open.add("context of " + context);
            }
        }
        return open;
    }

    /**
     * Disconnects from all peers, stops the threads and releases sockets, files and memory. Closing twice does nothing.
     *
     * <p>Contexts and identifiers should be closed before. Objects that were left open ({@link #openObjects}) are named in a
     * warning of the logger {@code io.rdma4j.soft.SoftStack}. Contexts are closed with all their objects, and so is the
     * connection manager. Calls that wait for an object of the stack, and later calls, throw {@link
     * io.rdma4j.verbs.ClosedException}; an object can still be closed.
     */
    @Override
    public void close() {
        if (closed.getAndSet(true)) {
            return;
        }
        List<String> open = openObjects();
        if (!open.isEmpty()) {
            LOGGER.log(System.Logger.Level.WARNING, "a stack is closed while its objects are open: " + open);
        }
        cmProvider.close();
        cmProvider.finish();
        connectionManager.close();
        devices.openContexts().forEach(DeviceContext::close);
        devices.close();
    }
}

package io.rdma4j.testkit;

import io.rdma4j.cm.ConnectionManager;
import io.rdma4j.link.memory.MemoryNetwork;
import io.rdma4j.sharing.RunDirectory;
import io.rdma4j.soft.SoftStack;
import io.rdma4j.soft.device.StackAccess;
import io.rdma4j.soft.device.StackSettings;
import io.rdma4j.soft.host.ObjectObserver;
import io.rdma4j.soft.host.SingleInterfaceNetwork;
import io.rdma4j.soft.host.StackClock;
import io.rdma4j.verbs.Device;
import java.net.InetAddress;
import java.util.ArrayList;
import java.util.List;
import java.util.random.RandomGenerator;
import org.jspecify.annotations.Nullable;

/** A host of a {@link TestNetwork}, with one network interface and one software RDMA device. Thread safe. */
public final class TestHost {
    private final String name;
    private final InetAddress address;
    private final StackSettings settings;
    private final List<SoftStack> stacks = new ArrayList<>();
    private final SoftStack stack;

    TestHost(
            MemoryNetwork network,
            String name,
            InetAddress address,
            int mtuBytes,
            HostOptions options,
            @Nullable VirtualClock time,
            RandomGenerator random,
            ObjectObserver objects) {
        this.name = name;
        this.address = address;
        RunDirectory directory = RunDirectory.ofVirtualHost(name);
        settings = new StackSettings(
                options::linkOptions,
                options::security,
                network::newLinkSet,
                () -> directory,
                new SingleInterfaceNetwork("eth0", address, mtuBytes),
                time == null ? StackClock.SYSTEM : time,
                time,
                random,
                objects);
        stack = addStack();
    }

    /** Returns the name of the host. */
    public String name() {
        return name;
    }

    /** Returns the address of the host. */
    public InetAddress address() {
        return address;
    }

    /** Returns the first stack of the host. */
    public SoftStack stack() {
        return stack;
    }

    /** Returns the connection manager of the host's first stack. */
    public ConnectionManager connectionManager() {
        return stack.connectionManager();
    }

    /** Returns the device of the host's first stack. */
    public Device device() {
        return stack.deviceOf(address).orElseThrow();
    }

    /** Adds a stack to the host. The stacks share the host's address, like processes of one host. */
    public SoftStack addStack() {
        SoftStack added = StackAccess.create(SoftStack.class, settings);
        synchronized (stacks) {
            stacks.add(added);
        }
        return added;
    }

    List<SoftStack> stacks() {
        synchronized (stacks) {
            return List.copyOf(stacks);
        }
    }

    /** Closes all stacks, and returns the names of objects that were still open. */
    List<String> closeStacks() {
        List<SoftStack> all;
        synchronized (stacks) {
            all = List.copyOf(stacks).reversed();
            stacks.clear();
        }
        List<String> open = new ArrayList<>();
        for (SoftStack each : all) {
            open.addAll(each.openObjects());
            each.close();
        }
        return open;
    }

    @Override
    public String toString() {
        return name + " (" + address.getHostAddress() + ")";
    }
}

package io.rdma4j.soft.warmup;

import io.rdma4j.link.decorator.LinkOptions;
import io.rdma4j.sharing.RunDirectory;
import io.rdma4j.soft.device.StackSettings;
import io.rdma4j.soft.host.RunDirectories;
import io.rdma4j.soft.host.SingleInterfaceNetwork;
import io.rdma4j.soft.options.SecurityOptions;
import java.net.InetAddress;
import java.net.UnknownHostException;
import java.util.concurrent.ThreadLocalRandom;
import org.jspecify.annotations.Nullable;

/**
 * Two stacks that exchange packets over the loopback interface and that no other stack of this host can reach or see.
 *
 * <p>They share an address like two processes of a host, in a private run directory. Their packets are neither captured nor
 * counted elsewhere, regardless of this process' options. Thread safe.
 */
public final class PrivateStacks implements AutoCloseable {
    private static final int MTU_BYTES = 65_536;

    private final InetAddress address;
    private @Nullable RunDirectory directory;
    private final PrivateStack first;
    private final PrivateStack second;

    /** Creates the stacks, which open nothing yet. */
    public PrivateStacks() {
        address = randomLoopbackAddress();
        StackSettings process = StackSettings.ofProcess();
        StackSettings settings = new StackSettings(
                () -> LinkOptions.NONE,
                () -> SecurityOptions.DEFAULT,
                process.links(),
                this::directory,
                new SingleInterfaceNetwork("lo", address, MTU_BYTES),
                process.clock(),
                null,
                process.random());
        first = new PrivateStack(settings);
        second = new PrivateStack(settings);
    }

    /** Returns the directory. Creates it when it is first needed, so that a process that ends before leaves none. */
    private synchronized RunDirectory directory() {
        RunDirectory known = directory;
        if (known == null) {
            known = RunDirectories.createPrivate();
            directory = known;
        }
        return known;
    }

    /** Returns an address of 127.0.0.0/8 that is unlikely to be in use. */
    private static InetAddress randomLoopbackAddress() {
        ThreadLocalRandom random = ThreadLocalRandom.current();
        byte[] bytes = {127, (byte) random.nextInt(128, 255), (byte) random.nextInt(256), (byte) random.nextInt(1, 255)
        };
        try {
            return InetAddress.getByAddress(bytes);
        } catch (UnknownHostException e) {
            throw new AssertionError("an IPv4 address has four bytes", e);
        }
    }

    /** Returns the address that both stacks use. */
    public InetAddress address() {
        return address;
    }

    /** Returns one of the stacks. */
    public PrivateStack first() {
        return first;
    }

    /** Returns the other stack. */
    public PrivateStack second() {
        return second;
    }

    /** Closes the stacks and removes their directory. Everything that uses them must have ended. */
    @Override
    public void close() {
        try {
            second.close();
        } finally {
            first.close();
            removeDirectory();
        }
    }

    private synchronized void removeDirectory() {
        RunDirectory created = directory;
        if (created != null) {
            created.removeUnused();
        }
    }
}

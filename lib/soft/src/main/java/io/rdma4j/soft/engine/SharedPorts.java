package io.rdma4j.soft.engine;

import io.rdma4j.cm.host.AddressText;
import io.rdma4j.sharing.HostPort;
import io.rdma4j.sharing.Port;
import io.rdma4j.sharing.RunDirectory;
import io.rdma4j.sharing.Sharing;
import io.rdma4j.sharing.SharingException;
import io.rdma4j.soft.host.HostNetwork;
import io.rdma4j.soft.host.SystemFailure;
import io.rdma4j.verbs.Errno;
import io.rdma4j.verbs.InterruptedRdmaException;
import io.rdma4j.verbs.RdmaException;
import io.rdma4j.verbs.wait.Signal;
import io.rdma4j.wire.Frame;
import java.io.IOException;
import java.net.InetAddress;
import java.net.SocketException;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;

/**
 * The ports of a stack. Opens them when they are first needed, and waits for the other processes that share their addresses; the
 * ports themselves never wait. Any thread, without an engine's lock.
 */
public final class SharedPorts {
    /** The time for which a port may be bound but not joinable: a new owner needs some time between bind and listen. */
    private static final long OPEN_NANOS = 1_500_000_000;

    /** The time that the owner may take to answer. */
    private static final long WELCOME_NANOS = 5_000_000_000L;

    /** The interval between attempts to open a port. */
    private static final long RETRY_NANOS = 10_000_000;

    /** The time for which a listener waits for its registration with the owner. */
    private static final long REGISTRATION_NANOS = 5_000_000_000L;

    private final Engine main;
    private final Sharing sharing;
    private final HostNetwork host;
    private final Signal progress = new Signal();
    private final MainPortEngine portEngine;

    /**
     * Creates the ports of a stack; none is open yet.
     *
     * @param main the main engine, which drives the ports that are shared with other processes
     * @param host the host that has their addresses
     */
    public SharedPorts(Engine main, Sharing sharing, HostNetwork host) {
        this.main = main;
        this.sharing = sharing;
        this.host = host;
        portEngine = new MainPortEngine(main, progress);
    }

    /**
     * Returns an engine's port of a local address, and opens it if necessary.
     *
     * @throws RdmaException if UDP port 4791 of the address cannot be used
     */
    public Port open(Engine engine, InetAddress address) {
        HostPort hostPort = openHostPort(address);
        return engine.isMain() ? hostPort : openSteered(engine, hostPort);
    }

    private static Port openSteered(Engine engine, HostPort hostPort) {
        engine.lock();
        try {
            Port known = engine.findPort(hostPort.address());
            if (known != null) {
                return known;
            }
            SteeredPort port = SteeredPort.open(engine, hostPort);
            engine.addPort(port);
            return port;
        } finally {
            engine.unlock();
        }
    }

    /**
     * Returns the main engine's port of a local address, and opens it if necessary.
     *
     * @throws RdmaException if UDP port 4791 of the address cannot be used
     */
    public HostPort openHostPort(InetAddress address) {
        HostPort known = find(address);
        if (known != null) {
            // Every connection comes here: checking the interface again would take longer than everything else.
            awaitConnected(known);
            return known;
        }
        if (!isLocal(address)) {
            throw new RdmaException(
                    "rdma_bind_addr",
                    Errno.EADDRNOTAVAIL,
                    AddressText.of(address) + " is not an address of this host",
                    "Use a local address");
        }
        long takeOverNanos = now() + HostPort.TAKEOVER_NANOS;
        long giveUpNanos = now() + OPEN_NANOS;
        while (true) {
            String refusal = tryOpen(address, now() - takeOverNanos >= 0);
            HostPort port = refusal == null ? find(address) : null;
            if (port != null) {
                awaitConnected(port);
                return port;
            }
            if (!pause()) {
                throw interrupted("rdma_bind_addr", address);
            }
            if (now() - giveUpNanos >= 0) {
                throw held(address, String.valueOf(refusal));
            }
        }
    }

    /**
     * Returns whether no process has, or recently had, bound UDP port 4791 of an address of this host. Packets to it are not
     * answered. Another process may bind it at any time.
     */
    public boolean isVacant(InetAddress address) {
        if (find(address) != null || sharing.mayHaveOwner(address)) {
            return false;
        }
        main.lock();
        try {
            main.links().openUdp(address, Frame.UDP_PORT).close();
            return true;
        } catch (IOException held) {
            return false;
        } finally {
            main.unlock();
        }
    }

    /**
     * Receives requests to a local address for a service ID, and returns when the registration is complete.
     *
     * @throws RdmaException {@code ETIMEDOUT} if the process that owns the port does not answer; {@code EADDRINUSE} if it has
     *     another version of the messages between processes; {@code EAGAIN} if it has no descriptor left for this process
     */
    public void registerService(InetAddress address, long serviceId) {
        HostPort port = openHostPort(address);
        main.lock();
        try {
            port.registerService(serviceId);
        } finally {
            main.unlock();
        }
        await(() -> port.isRegistered(serviceId) || port.isRefused(), REGISTRATION_NANOS);
        if (!port.isRegistered(serviceId)) {
            unregister(port, serviceId);
            throw failure("rdma_listen", port);
        }
    }

    /** Stops receiving requests to a local address for a service ID, regardless of the port's owner, if there is one. Does not wait. */
    public void unregisterService(InetAddress address, long serviceId) {
        HostPort port = find(address);
        if (port != null) {
            unregister(port, serviceId);
        }
    }

    private void unregister(HostPort port, long serviceId) {
        main.lock();
        try {
            port.unregisterService(serviceId);
        } finally {
            main.unlock();
        }
    }

    /** Waits until packets for this process arrive. */
    private void awaitConnected(HostPort port) {
        await(() -> port.isConnected() || port.isRefused(), WELCOME_NANOS);
        if (!port.isConnected()) {
            throw failure("ibv_modify_qp", port);
        }
    }

    private void await(BooleanSupplier done, long nanos) {
        boolean _ = progress.await(main, done, now() + nanos);
    }

    private long now() {
        return main.clock().nanoTime();
    }

    /** Returns null if the port is open, otherwise the reason why it is not: another attempt may succeed. */
    private @Nullable String tryOpen(InetAddress address, boolean takesOver) {
        main.lock();
        try {
            if (main.findPort(address) != null) {
                return null;
            }
            HostPort port = new HostPort(portEngine, sharing, address);
            String refusal = port.tryOpen(takesOver);
            if (refusal == null) {
                main.addPort(port);
            }
            return refusal;
        } catch (IOException e) {
            throw SystemFailure.of("rdma_bind_addr", "open UDP port 4791 of " + AddressText.of(address), e, "");
        } finally {
            main.unlock();
        }
    }

    private @Nullable HostPort find(InetAddress address) {
        main.lock();
        try {
            return (HostPort) main.findPort(address);
        } finally {
            main.unlock();
        }
    }

    /** Pauses between two attempts, also in virtual time; returns false if the thread is interrupted. */
    private boolean pause() {
        boolean _ = new Signal().await(main, () -> false, now() + RETRY_NANOS);
        return !Thread.currentThread().isInterrupted();
    }

    private boolean isLocal(InetAddress address) {
        try {
            return host.hasAddress(address);
        } catch (SocketException e) {
            throw SystemFailure.of("rdma_bind_addr", "find the interface of " + AddressText.of(address), e, "");
        }
    }

    /** Returns the exception for an unsuccessful wait for the owner. */
    private static RdmaException failure(String operation, HostPort port) {
        if (Thread.currentThread().isInterrupted()) {
            return interrupted(operation, port.address());
        }
        SharingException refusal = port.refusal();
        String owner = "the process that owns UDP port 4791 of " + AddressText.of(port.address());
        return new RdmaException(
                operation, SystemFailure.errno(refusal), owner + " " + refusal.details(), refusal.hint());
    }

    private static RdmaException interrupted(String operation, InetAddress address) {
        return new InterruptedRdmaException(operation, "the wait for UDP port 4791 of " + AddressText.of(address), "");
    }

    private RdmaException held(InetAddress address, String refusal) {
        return new RdmaException(
                "rdma_bind_addr",
                Errno.EADDRINUSE,
                "UDP port 4791 of " + AddressText.of(address) + " is held by something that does not share it with"
                        + " this process (" + refusal + "; run directory "
                        + sharing.directory().path() + ")",
                "If it is the kernel's rdma_rxe, unload it (rmmod rdma_rxe), use another address or network namespace;"
                        + " if it is another user's process, terminate it or use another address; if it is an rdma4j"
                        + " process with another run directory, give both the same by " + RunDirectory.OVERRIDE);
    }
}

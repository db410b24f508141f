package io.rdma4j.soft.sharing;

import io.rdma4j.cm.host.AddressText;
import io.rdma4j.soft.engine.Engine;
import io.rdma4j.soft.engine.Port;
import io.rdma4j.soft.host.HostNetwork;
import io.rdma4j.soft.host.SystemFailure;
import io.rdma4j.verbs.Errno;
import io.rdma4j.verbs.RdmaException;
import io.rdma4j.verbs.wait.Signal;
import io.rdma4j.wire.Frame;
import java.io.IOException;
import java.net.InetAddress;
import java.net.SocketException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.random.RandomGenerator;
import org.jspecify.annotations.Nullable;

/** The state by which this process shares the host's addresses and RDMA ports with other processes. Thread safe. */
public final class Sharing implements AutoCloseable {
    /** The time for which a port may be bound but not joinable: a new owner needs a moment between bind and listen. */
    private static final long OPEN_NANOS = 1_500_000_000;

    /** The time that the owner may take to answer. */
    private static final long WELCOME_NANOS = 5_000_000_000L;

    /** The interval of the attempts to open a port. */
    private static final long RETRY_NANOS = 10_000_000;

    /** The interval at which the shared files are checked: some system calls for each. */
    private static final long KEEP_NANOS = 20_000_000_000L;

    private static final System.Logger LOGGER = System.getLogger(Sharing.class.getName());

    private final RunDirectory directory;
    private final HostNetwork host;
    private final DirectoryUse use;
    private final Slots slots;
    private final PortClaims claims;
    private final Takeovers takeovers;
    private final CrashDisconnectTable crashDisconnects;
    private final GuardianChannel guardian;
    private final SocketFiles socketFiles = new SocketFiles();
    private long keptNanos;

    /** Guarded by the lock of the main engine. */
    private @Nullable ProcessExitHandler exitHandler;

    /** Joins the processes that share a directory. */
    public Sharing(RunDirectory directory, HostNetwork host, RandomGenerator random) {
        this.directory = directory;
        this.host = host;
        use = new DirectoryUse(directory, random);
        slots = use.slots();
        claims = new PortClaims(directory);
        takeovers = new Takeovers(directory);
        if (!directory.isOfVirtualHost()) {
            slots.removeLeftFiles(directory);
        }
        crashDisconnects = CrashDisconnectTable.create(directory, slots.number());
        guardian = new GuardianChannel(directory, slots.number());
        guardian.check();
    }

    /** Releases the slot and the files. */
    @Override
    public void close() {
        crashDisconnects.close();
        guardian.close();
        claims.close();
        takeovers.close();
        use.close();
    }

    /**
     * Keeps the files that the processes share from programs that remove old files, and creates them again if they were removed. Does
     * nothing if that was done within the last {@value #KEEP_NANOS} nanoseconds. Any thread.
     */
    public void keepFiles(long nowNanos) {
        if (keptNanos != 0 && nowNanos - keptNanos < KEEP_NANOS) {
            return;
        }
        keptNanos = nowNanos;
        try {
            use.keep();
            takeovers.keep();
            claims.keep();
        } catch (IOException | RdmaException e) {
            LOGGER.log(System.Logger.Level.WARNING, "cannot keep the files of run directory " + directory.path(), e);
        }
    }

    /** Returns the directory that the processes share. */
    RunDirectory directory() {
        return directory;
    }

    /** Returns the locks for the takeover of addresses. */
    Takeovers takeovers() {
        return takeovers;
    }

    /** Returns whether another process has a slot. */
    boolean isSlotInUse(int slot) {
        return slots.isInUse(slot);
    }

    /** Returns the socket files to remove when the process ends. */
    SocketFiles socketFiles() {
        return socketFiles;
    }

    /** Removes the socket files, because the process exits: other processes can no longer join this one. */
    public void removeSocketFiles() {
        socketFiles.removeAll();
        crashDisconnects.close();
    }

    /** Registers this process with the guardian of the user if it has just started. Any thread. */
    public void registerWithGuardian() {
        guardian.check();
    }

    /** Registers this process with the guardian of the user, if one runs; checks once a second at most. Any thread. */
    public void registerWithGuardian(long nowNanos) {
        guardian.check(nowNanos);
    }

    /** Returns the connections that another process disconnects if this one is killed; under the main engine's lock. */
    public CrashDisconnectTable crashDisconnects() {
        return crashDisconnects;
    }

    /** Sets the handler of the exits of other processes; under the main engine's lock. */
    public void exitHandler(ProcessExitHandler handler) {
        exitHandler = handler;
    }

    @Nullable
    ProcessExitHandler exitHandler() {
        return exitHandler;
    }

    /** Returns this process' slot. */
    public int slot() {
        return slots.number();
    }

    /** Returns the claimed RDMA ports. */
    public PortClaims claims() {
        return claims;
    }

    /**
     * Returns an engine's port of a local address, and opens it if necessary. Any thread, without an engine's lock.
     *
     * @throws RdmaException if UDP port 4791 of the address cannot be used
     */
    public Port openPort(Engine engine, InetAddress address) {
        HostPort hostPort = openHostPort(engine.engines().main(), address);
        return engine.isMain() ? hostPort : openSteeredPort(engine, hostPort);
    }

    private static Port openSteeredPort(Engine engine, HostPort hostPort) {
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
     * Returns the main engine's port of a local address, and opens it if necessary. Any thread, without the engine
     * lock.
     *
     * @param engine the main engine
     * @throws RdmaException if UDP port 4791 of the address cannot be used
     */
    public HostPort openHostPort(Engine engine, InetAddress address) {
        HostPort known = find(engine, address);
        if (known != null) {
            // Every connection comes here: checking the interface again would take longer than everything else.
            known.awaitConnected(engine.clock().nanoTime() + WELCOME_NANOS);
            return known;
        }
        if (!isLocal(address)) {
            throw new RdmaException(
                    "rdma_bind_addr",
                    Errno.EADDRNOTAVAIL,
                    AddressText.of(address) + " is not an address of this host",
                    "Name a local address");
        }
        long takeOverNanos = engine.clock().nanoTime() + PortRole.Ownerless.TAKEOVER_NANOS;
        long giveUpNanos = engine.clock().nanoTime() + OPEN_NANOS;
        while (true) {
            String refusal = tryOpenPort(engine, address, engine.clock().nanoTime() - takeOverNanos >= 0);
            HostPort port = refusal == null ? find(engine, address) : null;
            if (port != null) {
                port.awaitConnected(engine.clock().nanoTime() + WELCOME_NANOS);
                return port;
            }
            if (engine.clock().nanoTime() - giveUpNanos >= 0 || !pause(engine)) {
                throw held(address, String.valueOf(refusal));
            }
        }
    }

    /**
     * Returns whether no process has bound UDP port 4791 of an address of this host, or had bound it until just now.
     * Packets to it are not answered. Another process may bind it at any time. Any thread, without the engine lock.
     */
    public boolean isVacant(Engine engine, InetAddress address) {
        if (find(engine, address) != null || Files.exists(socket(address))) {
            return false; // the socket file of a killed owner is still there, and others are about to replace it
        }
        engine.lock();
        try {
            engine.links().openUdp(address, Frame.UDP_PORT).close();
            return true;
        } catch (IOException held) {
            return false;
        } finally {
            engine.unlock();
        }
    }

    private @Nullable String tryOpenPort(Engine engine, InetAddress address, boolean takesOver) {
        engine.lock();
        try {
            if (engine.findPort(address) != null) {
                return null;
            }
            HostPort port = new HostPort(engine, this, address, socket(address));
            String refusal = port.tryOpen(takesOver);
            if (refusal == null) {
                engine.addPort(port);
            }
            return refusal;
        } catch (IOException e) {
            throw SystemFailure.of("rdma_bind_addr", "open UDP port 4791 of " + AddressText.of(address), e, "");
        } finally {
            engine.unlock();
        }
    }

    private static @Nullable HostPort find(Engine engine, InetAddress address) {
        engine.lock();
        try {
            return (HostPort) engine.findPort(address);
        } finally {
            engine.unlock();
        }
    }

    private Path socket(InetAddress address) {
        return directory.fileOfNamespace(RunDirectory.socketName(address));
    }

    /** Pauses between two attempts, in virtual time, too; returns false if the thread is interrupted. */
    private static boolean pause(Engine engine) {
        boolean _ = new Signal().await(engine, () -> false, engine.clock().nanoTime() + RETRY_NANOS);
        return !Thread.currentThread().isInterrupted();
    }

    private RdmaException held(InetAddress address, String refusal) {
        return new RdmaException(
                "rdma_bind_addr",
                Errno.EADDRINUSE,
                "UDP port 4791 of " + AddressText.of(address) + " is held by something that does not share it with"
                        + " this process (" + refusal + "; run directory " + directory.path() + ")",
                "If it is the kernel's rdma_rxe, unload it (rmmod rdma_rxe), use another address or network namespace;"
                        + " if it is another user's process, terminate it or use another address; if it is an rdma4j"
                        + " process with another run directory, give both the same by " + RunDirectory.OVERRIDE);
    }

    private boolean isLocal(InetAddress address) {
        try {
            return host.hasAddress(address);
        } catch (SocketException e) {
            throw SystemFailure.of("rdma_bind_addr", "find the interface of " + AddressText.of(address), e, "");
        }
    }
}

package io.rdma4j.sharing;

import java.io.IOException;
import java.net.InetAddress;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.random.RandomGenerator;
import org.jspecify.annotations.Nullable;

/** The state through which this process shares the host's addresses and RDMA ports with other processes. Thread safe. */
public final class Sharing implements AutoCloseable {
    /** The interval at which the shared files are checked: some system calls for each. */
    private static final long KEEP_NANOS = 20_000_000_000L;

    private static final System.Logger LOGGER = System.getLogger(Sharing.class.getName());

    private final RunDirectory directory;
    private final DirectoryUse use;
    private final Slots slots;
    private final PortClaims claims;
    private final Takeovers takeovers;
    private final CrashDisconnectTable crashDisconnects;
    private final GuardianChannel guardian;
    private final SocketFiles socketFiles = new SocketFiles();
    private final SharingCounters counters = new SharingCounters();
    private long keptNanos;

    /** Guarded by the lock of the main engine. */
    private @Nullable ProcessExitHandler exitHandler;

    /**
     * Joins the processes that share a directory.
     *
     * @throws SharingException as {@link Slots#claim}
     */
    public Sharing(RunDirectory directory, RandomGenerator random) throws SharingException {
        this.directory = directory;
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
     * Protects the files that the processes share from programs that remove old files, and creates them again if they were
     * removed. Does nothing if that was done within the last {@value #KEEP_NANOS} nanoseconds. Any thread.
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
        } catch (IOException | SharingException e) {
            LOGGER.log(System.Logger.Level.WARNING, "cannot keep the files of run directory " + directory.path(), e);
        }
    }

    /** Returns the directory that the processes share. */
    public RunDirectory directory() {
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

    /** Registers this process with the guardian of the user, if one runs; checks at most once a second. Any thread. */
    public void registerWithGuardian(long nowNanos) {
        guardian.check(nowNanos);
    }

    /** Returns the connections that another process disconnects if this process is killed; under the main engine's lock. */
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

    /** Returns the counters of the packets between processes. */
    public SharingCounters counters() {
        return counters;
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
     * Returns whether another process may own UDP port 4791 of an address: the socket file of an owner that was killed is still there,
     * and others are about to replace it. Any thread.
     */
    public boolean mayHaveOwner(InetAddress address) {
        return Files.exists(socket(address));
    }

    /** Returns the socket at which processes join the owner of an address. */
    Path socket(InetAddress address) {
        return directory.fileOfNamespace(RunDirectory.socketName(address));
    }
}

package io.rdma4j.sharing;

import io.rdma4j.link.host.GidAddresses;
import io.rdma4j.link.host.Interfaces;
import java.io.IOException;
import java.net.InetAddress;
import java.util.HashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * The locks by which processes agree on who takes over UDP port 4791 of an address from a process that is stopped.
 *
 * <p>Each address has two bytes of a file. One is locked during a takeover, so that only one process takes the port.
 * The other is shared by the processes that hold a socket of the port: a process that finds the port in use but not
 * served can see from this byte that the holder is an rdma4j process of its run directory. Thread safe.
 */
final class Takeovers implements AutoCloseable {
    private static final String FILE = "takeovers";

    private final RunDirectory directory;
    private final Map<Long, LockFile.ByteLock> holds = new HashMap<>();
    private @Nullable LockFile file;

    Takeovers(RunDirectory directory) {
        this.directory = directory;
    }

    /** Returns the lock under which a process takes over an address, or null if another process is doing so. */
    LockFile.@Nullable ByteLock tryBegin(InetAddress address) throws IOException {
        return file().tryLock(position(address), false);
    }

    /** Notes for the lifetime of this process that it holds a socket of the port of an address. */
    synchronized void hold(InetAddress address) {
        try {
            long at = position(address) + 1;
            LockFile.ByteLock lock = holds.containsKey(at) ? null : file().tryLock(at, true);
            if (lock != null) {
                holds.put(at, lock);
            }
        } catch (IOException e) {
            return; // then a process that starts while this one is stopped cannot take over the port
        }
    }

    /** Returns whether a process of this run directory, or this process, holds a socket of the port of an address. */
    boolean isHeld(InetAddress address) throws IOException {
        return file().isLockedElsewhere(position(address) + 1);
    }

    private synchronized LockFile file() throws IOException {
        LockFile open = file;
        if (open == null) {
            open = directory.openLockFileOfNamespace(FILE);
            file = open;
        }
        return open;
    }

    /** Returns the first byte of an address: addresses with the same one would only wait for each other. */
    private static long position(InetAddress address) {
        long mixed = (GidAddresses.high(address) * 0x9e37_79b9_7f4a_7c15L + GidAddresses.low(address))
                        * 0xc2b2_ae3d_27d4_eb4fL
                + Interfaces.scope(address) * 0x1656_67b1_9e37_79f9L;
        return mixed >>> 3 << 1;
    }

    /** Keeps the file; see {@link LockFile#keep}. */
    synchronized void keep() throws IOException {
        if (file != null) {
            file.keep();
        }
    }

    @Override
    public synchronized void close() {
        try {
            if (file != null) {
                for (LockFile.ByteLock hold : holds.values()) {
                    hold.release();
                }
                file.close();
            }
        } catch (IOException e) {
            return; // the file was removed, and its locks with it
        }
    }
}

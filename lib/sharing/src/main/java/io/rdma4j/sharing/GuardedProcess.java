package io.rdma4j.sharing;

import io.rdma4j.wire.cm.AbandonedConnection;
import java.io.IOException;
import java.util.List;

/** A process, or a stack of one, that a guardian watches. Not thread safe. */
public final class GuardedProcess implements AutoCloseable {
    private final int slot;
    private final LockFile slots;
    private final CrashDisconnectReader table;

    private GuardedProcess(int slot, LockFile slots, CrashDisconnectReader table) {
        this.slot = slot;
        this.slots = slots;
        this.table = table;
    }

    /**
     * Starts watching the process of a slot, which must be alive.
     *
     * @throws IOException if its files cannot be opened
     */
    public static GuardedProcess open(RunDirectory directory, int slot) throws IOException {
        return new GuardedProcess(
                slot, directory.openLockFile(Slots.FILE), CrashDisconnectReader.open(directory, slot));
    }

    /** Returns the slot. */
    public int slot() {
        return slot;
    }

    /** Returns whether the process no longer holds its slot, which the system releases when the process ends. */
    public boolean hasEnded() {
        try {
            return !slots.isLockedElsewhere(slot);
        } catch (IOException e) {
            return true; // the directory was removed, which happens when no process uses it
        }
    }

    /** Returns whether there are connections to disconnect. */
    public boolean isAnyLeft() {
        return table.isAnyLeft();
    }

    /** Takes the connections to disconnect, after the process has ended. */
    public List<AbandonedConnection> take() {
        return table.take(_ -> true);
    }

    @Override
    public void close() {
        try {
            slots.close();
        } catch (IOException e) {
            // Nothing was locked.
            return;
        }
    }
}

package io.rdma4j.sharing;

import io.rdma4j.wire.cm.AbandonedConnection;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/**
 * The {@linkplain CrashDisconnectTable crash disconnects} of another process.
 *
 * <p>Open it while that process is running: later another process may have its slot, with a file of the same name.
 * Thread safe.
 */
public final class CrashDisconnectReader {
    private static final System.Logger LOGGER = System.getLogger(CrashDisconnectReader.class.getName());

    /** Null if there is no file. */
    private final @Nullable MemorySegment memory;

    private final int slot;

    private CrashDisconnectReader(@Nullable MemorySegment memory, int slot) {
        this.memory = memory;
        this.slot = slot;
    }

    /** Opens the file of a slot. If that fails, the reader has no connections. */
    public static CrashDisconnectReader open(RunDirectory directory, int slot) {
        MemorySegment memory = null;
        try {
            memory = directory
                    .mappedFiles()
                    .open(CrashDisconnectFormat.fileName(slot), CrashDisconnectFormat.FILE_BYTES);
        } catch (IOException | UnsupportedOperationException e) {
            LOGGER.log(System.Logger.Level.DEBUG, "peers of slot " + slot + " cannot be disconnected on its behalf", e);
        }
        return new CrashDisconnectReader(memory, slot);
    }

    /** Returns whether a connection is left that no process has taken. */
    public boolean isAnyLeft() {
        MemorySegment file = memory;
        int count = file == null ? 0 : CrashDisconnectFormat.count(file);
        for (int i = 0; i < count; i++) {
            if (file != null && CrashDisconnectFormat.isEstablished(file, i)) {
                return true;
            }
        }
        return false;
    }

    /**
     * Takes connections of the process, after it has exited. Each is returned to only one caller among all processes that have
     * opened the file. Connections with a communication ID of another slot are ignored, so that no process can have another's
     * connections disconnected.
     *
     * @param isWanted selects the connections that the caller can disconnect
     */
    public List<AbandonedConnection> take(Predicate<AbandonedConnection> isWanted) {
        List<AbandonedConnection> taken = new ArrayList<>();
        MemorySegment file = memory;
        int count = file == null ? 0 : CrashDisconnectFormat.count(file);
        for (int i = 0; i < count; i++) {
            if (file != null && CrashDisconnectFormat.isEstablished(file, i)) {
                AbandonedConnection connection = CrashDisconnectFormat.read(file, i);
                if (Slot.ofCommunicationId(connection.localId()) == slot
                        && isWanted.test(connection)
                        && CrashDisconnectFormat.take(file, i)) {
                    taken.add(connection);
                }
            }
        }
        return taken;
    }
}

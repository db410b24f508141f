package io.rdma4j.sharing;

import io.rdma4j.wire.cm.AbandonedConnection;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.VarHandle;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.HashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * The established connections of this process, in a file from which another process disconnects their peers if this process is
 * killed (decision 028).
 *
 * <p>The file is mapped, so that a change needs no system call, and is complete however the process ends: the state of a
 * record is written last. {@link CrashDisconnectFormat} describes the file. Used under the engine lock.
 */
public final class CrashDisconnectTable {
    private static final System.Logger LOGGER = System.getLogger(CrashDisconnectTable.class.getName());

    private final RunDirectory directory;
    private final String name;

    /** Null if the file could not be created. */
    private final @Nullable MemorySegment memory;

    /** The index of each connection's record by its communication ID. */
    private final Map<Integer, Integer> indexes = new HashMap<>();

    /** The indexes below {@link #next} that are free, as a stack. */
    private int[] free = new int[16];

    private int freeCount;
    private int next;

    /** The number of records whose memory the file system has allocated. */
    private int allocated = CrashDisconnectFormat.FIRST_RECORDS;

    private CrashDisconnectTable(RunDirectory directory, String name, @Nullable MemorySegment memory) {
        this.directory = directory;
        this.name = name;
        this.memory = memory;
    }

    /**
     * Creates the file of a slot. If that fails, for example because the file system is full, no other process acts on
     * behalf of this one.
     */
    static CrashDisconnectTable create(RunDirectory directory, int slot) {
        String name = CrashDisconnectFormat.fileName(slot);
        MemorySegment memory = null;
        try {
            memory = directory
                    .mappedFiles()
                    .create(
                            name,
                            CrashDisconnectFormat.FILE_BYTES,
                            CrashDisconnectFormat.bytes(CrashDisconnectFormat.FIRST_RECORDS));
            CrashDisconnectFormat.begin(memory);
        } catch (IOException | UnsupportedOperationException e) {
            LOGGER.log(
                    System.Logger.Level.DEBUG, "peers will not be disconnected if this process is killed: " + name, e);
        }
        return new CrashDisconnectTable(directory, name, memory);
    }

    /** Returns the path of the file, or null if there is none. Any thread. */
    public @Nullable Path path() {
        return memory == null || directory.isOfVirtualHost()
                ? null
                : directory.file(name).toAbsolutePath();
    }

    /**
     * Adds an established connection. Does nothing if the file system is full, or the table is full with {@value
     * CrashDisconnectFormat#MAX_RECORDS} connections.
     */
    public void add(AbandonedConnection connection) {
        MemorySegment file = memory;
        Integer known = indexes.get(connection.localId());
        int index = known != null ? known : file == null ? -1 : freeIndex();
        if (file == null || index < 0) {
            return;
        }
        CrashDisconnectFormat.setState(file, index, CrashDisconnectFormat.FREE);
        VarHandle.releaseFence();
        CrashDisconnectFormat.write(file, index, connection);
        CrashDisconnectFormat.setState(file, index, CrashDisconnectFormat.ESTABLISHED);
        indexes.put(connection.localId(), index);
    }

    /** Removes the connection with a communication ID, because it is disconnected. */
    public void remove(int localId) {
        MemorySegment file = memory;
        Integer index = indexes.remove(localId);
        if (file == null || index == null) {
            return;
        }
        CrashDisconnectFormat.setState(file, index, CrashDisconnectFormat.FREE);
        if (freeCount == free.length) {
            free = Arrays.copyOf(free, 2 * freeCount);
        }
        free[freeCount++] = index;
    }

    private int freeIndex() {
        if (freeCount > 0) {
            return free[--freeCount];
        }
        return next < allocated || grow() ? next++ : -1;
    }

    /** Allocates memory in the file system first: an access to a hole would be a fault in a full file system. */
    private boolean grow() {
        int larger = Math.min(2 * allocated, CrashDisconnectFormat.MAX_RECORDS);
        MemorySegment file = memory;
        if (file == null
                || larger == allocated
                || !directory
                        .mappedFiles()
                        .allocate(name, CrashDisconnectFormat.bytes(allocated), CrashDisconnectFormat.bytes(larger))) {
            return false;
        }
        allocated = larger;
        CrashDisconnectFormat.setCount(file, larger);
        return true;
    }

    /** Removes the file at the end of the stack or the process, unless another process must disconnect peers. Any thread. */
    void close() {
        if (memory != null && indexes.isEmpty()) {
            directory.mappedFiles().remove(name);
        }
    }
}

package io.rdma4j.transport.cm;

import io.rdma4j.value.Gid;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.IntSupplier;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/** Finds connections by local communication ID, by the peer's communication ID, and by the peer's queue pair. */
final class ConnectionTable {
    private static final int MAX_PROPOSALS = 1000;

    /**
     * A number that is unique within the CA of the GUID. The address is part of the key since any peer can claim any
     * GUID: a message from one address must not affect connections with another.
     */
    private record RemoteKey(Gid address, long caGuid, int number) {
        static RemoteKey ofId(CmConnection connection) {
            return new RemoteKey(connection.route().remote(), connection.remoteCaGuid(), connection.remoteId());
        }

        static RemoteKey ofQueuePair(CmConnection connection) {
            return new RemoteKey(connection.route().remote(), connection.remoteCaGuid(), connection.remoteQueuePair());
        }
    }

    private final Map<Integer, CmConnection> byLocalId = new HashMap<>();
    private final Map<RemoteKey, CmConnection> byRemoteId = new HashMap<>();
    private final Map<RemoteKey, CmConnection> byRemoteQueuePair = new HashMap<>();

    int size() {
        return byLocalId.size();
    }

    /** Returns whether all tables are empty. */
    boolean isEmpty() {
        return byLocalId.isEmpty() && byRemoteId.isEmpty() && byRemoteQueuePair.isEmpty();
    }

    /** Returns a free communication ID other than 0, or 0 if the supplier proposes none in many attempts. */
    int freeId(IntSupplier proposals) {
        for (int i = 0; i < MAX_PROPOSALS; i++) {
            int id = proposals.getAsInt();
            if (id != 0 && !byLocalId.containsKey(id)) {
                return id;
            }
        }
        return 0;
    }

    void add(CmConnection connection) {
        byLocalId.put(connection.localId(), connection);
    }

    /** Indexes the connection by the identifiers that its peer has sent. */
    void addRemote(CmConnection connection) {
        byRemoteId.put(RemoteKey.ofId(connection), connection);
        byRemoteQueuePair.put(RemoteKey.ofQueuePair(connection), connection);
    }

    /** Removes the peer's queue pair from the index, so that the peer may use it for another connection. */
    void removeRemoteQueuePair(CmConnection connection) {
        byRemoteQueuePair.remove(RemoteKey.ofQueuePair(connection), connection);
    }

    void remove(CmConnection connection) {
        byLocalId.remove(connection.localId(), connection);
        byRemoteId.remove(RemoteKey.ofId(connection), connection);
        removeRemoteQueuePair(connection);
    }

    /** Returns a snapshot of all connections, including those in time-wait. */
    List<CmConnection> all() {
        return List.copyOf(byLocalId.values());
    }

    boolean isAny(Predicate<CmConnection> condition) {
        return byLocalId.values().stream().anyMatch(condition);
    }

    @Nullable
    CmConnection byLocalId(int id) {
        return byLocalId.get(id);
    }

    @Nullable
    CmConnection byRemoteId(Gid address, long caGuid, int id) {
        return byRemoteId.get(new RemoteKey(address, caGuid, id));
    }

    @Nullable
    CmConnection byRemoteQueuePair(Gid address, long caGuid, int queuePair) {
        return byRemoteQueuePair.get(new RemoteKey(address, caGuid, queuePair));
    }
}

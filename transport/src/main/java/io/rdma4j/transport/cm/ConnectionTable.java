package io.rdma4j.transport.cm;

import io.rdma4j.wire.Gid;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.IntSupplier;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/** Finds connections: by our communication ID, by the peer's, and by the peer's queue pair. */
final class ConnectionTable {
    private static final int MAX_PROPOSALS = 1000;

    /**
     * A number that is unique within the CA of the GUID. Anybody can name any GUID: what comes from one address says nothing of
     * the connections with another.
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

    /** Whether no table holds anything. */
    boolean isEmpty() {
        return byLocalId.isEmpty() && byRemoteId.isEmpty() && byRemoteQueuePair.isEmpty();
    }

    /** A communication ID that is free and not 0, or 0 if the supplier proposes none in many tries. */
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

    /** Makes the connection findable by what its peer has told of itself. */
    void addRemote(CmConnection connection) {
        byRemoteId.put(RemoteKey.ofId(connection), connection);
        byRemoteQueuePair.put(RemoteKey.ofQueuePair(connection), connection);
    }

    /** Lets the peer use its queue pair for another connection. */
    void removeRemoteQueuePair(CmConnection connection) {
        byRemoteQueuePair.remove(RemoteKey.ofQueuePair(connection), connection);
    }

    void remove(CmConnection connection) {
        byLocalId.remove(connection.localId(), connection);
        byRemoteId.remove(RemoteKey.ofId(connection), connection);
        removeRemoteQueuePair(connection);
    }

    /** All connections, those in time-wait included, as they are now. */
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

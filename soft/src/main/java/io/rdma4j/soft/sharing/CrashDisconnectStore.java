package io.rdma4j.soft.sharing;

import io.rdma4j.soft.engine.Slot;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * The crash disconnects of the process at the other end of a channel.
 *
 * <p>That process may name any peer, since it can send to any peer from this address anyway. It may name only
 * communication IDs of its own slot, so that it cannot disconnect connections of another process. Used under the engine
 * lock.
 */
final class CrashDisconnectStore {
    /** The number of queue pairs of a slot. */
    static final int MAX_RECORDS = 1 << 16;

    private final Map<Integer, CrashDisconnect> crashDisconnects = new LinkedHashMap<>();

    /**
     * Stores the records of a message of kind {@link RelayMessage#CRASH_DISCONNECTS}.
     *
     * @param slot the slot of the sender
     * @return false if the message is invalid; some of its records may have been stored then
     */
    boolean onMessage(ByteBuffer message, int slot) {
        int bytes = message.remaining() - RelayMessage.RECORDS_AT;
        if (slot == 0 || bytes < 0 || bytes % RelayMessage.RECORD_BYTES != 0) {
            return false;
        }
        for (int at = message.position() + RelayMessage.RECORDS_AT;
                at < message.limit();
                at += RelayMessage.RECORD_BYTES) {
            int localId = message.getInt(at);
            if (Slot.ofCommunicationId(localId) != slot) {
                return false;
            }
            CrashDisconnect crashDisconnect = RelayMessage.crashDisconnect(message, at);
            if (crashDisconnect.remoteId() == 0) {
                crashDisconnects.remove(localId);
            } else if (crashDisconnects.size() < MAX_RECORDS || crashDisconnects.containsKey(localId)) {
                crashDisconnects.put(localId, crashDisconnect);
            }
        }
        return true;
    }

    /** Removes and returns all records, after the process has exited. */
    List<CrashDisconnect> takeAll() {
        List<CrashDisconnect> all = new ArrayList<>(crashDisconnects.values());
        crashDisconnects.clear();
        return all;
    }
}

package io.rdma4j.soft.engine;

import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * The last wills of the process at the other end of a channel. That process can name any peer, since it can send to any
 * from this address anyway; but only communication IDs of its own slot, so that it ends no connection of another process.
 * Under the engine lock.
 */
final class CrashDisconnectStore {
    /** As many queue pairs as a slot has numbers. */
    static final int MOST = 1 << 16;

    private final Map<Integer, CrashDisconnect> crashDisconnects = new LinkedHashMap<>();

    /**
     * Takes a message of kind {@link RelayMessage#WILLS}.
     *
     * @param slot of the process that sends it
     * @return false if it is not what such a process may send; then part of it may have been taken
     */
    boolean take(ByteBuffer message, int slot) {
        int bytes = message.remaining() - RelayMessage.WILLS_AT;
        if (slot == 0 || bytes < 0 || bytes % RelayMessage.WILL_BYTES != 0) {
            return false;
        }
        for (int at = message.position() + RelayMessage.WILLS_AT; at < message.limit(); at += RelayMessage.WILL_BYTES) {
            int localId = message.getInt(at);
            if (Slot.ofCommunicationId(localId) != slot) {
                return false;
            }
            CrashDisconnect crashDisconnect = RelayMessage.crashDisconnect(message, at);
            if (crashDisconnect.remoteId() == 0) {
                crashDisconnects.remove(localId);
            } else if (crashDisconnects.size() < MOST || crashDisconnects.containsKey(localId)) {
                crashDisconnects.put(localId, crashDisconnect);
            }
        }
        return true;
    }

    /** The process is gone: its wills, which are forgotten here. */
    List<CrashDisconnect> open() {
        List<CrashDisconnect> all = new ArrayList<>(crashDisconnects.values());
        crashDisconnects.clear();
        return all;
    }
}

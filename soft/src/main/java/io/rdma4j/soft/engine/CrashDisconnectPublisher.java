package io.rdma4j.soft.engine;

import io.rdma4j.link.LocalChannel;
import java.nio.ByteBuffer;
import java.util.HashSet;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Tells another process of this host the last wills of this one. What changes is told every {@value #PAUSE_NANOS}
 * nanoseconds, many in one message: each message wakes the other process, and of a connection that is over by then nothing
 * needs to be said. Under the engine lock.
 */
final class CrashDisconnectPublisher extends DeadlineTask {
    private static final long PAUSE_NANOS = 10_000_000;

    /** At once, so that the channel keeps room for what else goes through it. */
    private static final int MOST_MESSAGES = 4;

    private static final int WILLS_A_MESSAGE =
            (LocalChannel.MAX_MESSAGE_BYTES - RelayMessage.WILLS_AT) / RelayMessage.WILL_BYTES;
    private static final ByteBuffer EMPTY = ByteBuffer.allocate(0);

    private final Engine engine;
    private final Map<Integer, CrashDisconnect> crashDisconnects = new LinkedHashMap<>();

    /** Communication IDs of those that the keeper has. */
    private final Set<Integer> told = new HashSet<>();

    /** Communication IDs of those of which the keeper does not have the latest. */
    private final Set<Integer> changed = new LinkedHashSet<>();

    private @Nullable LocalChannel keeper;
    private @Nullable ByteBuffer message;
    private boolean isDue;

    CrashDisconnectPublisher(Engine engine) {
        this.engine = engine;
    }

    /** Who keeps the wills from now on, and has none yet; null for nobody. */
    void keeper(@Nullable LocalChannel channel) {
        keeper = channel;
        told.clear();
        changed.clear();
        if (channel != null && !crashDisconnects.isEmpty()) {
            changed.addAll(crashDisconnects.keySet());
            tellSoon();
        }
    }

    void add(CrashDisconnect crashDisconnect) {
        crashDisconnects.put(crashDisconnect.localId(), crashDisconnect);
        if (keeper != null) {
            changed.add(crashDisconnect.localId());
            tellSoon();
        }
    }

    void remove(int localId) {
        if (crashDisconnects.remove(localId) != null && keeper != null) {
            if (told.contains(localId)) {
                changed.add(localId);
                tellSoon();
            } else {
                changed.remove(localId);
            }
        }
    }

    private void tellSoon() {
        if (!isDue) {
            isDue = true;
            engine.schedule(this, engine.nowNanos() + PAUSE_NANOS);
        }
    }

    @Override
    protected void onDeadline(long nowNanos) {
        isDue = false;
        tell();
    }

    /** Tells what has changed; what finds no room now goes later. */
    void tell() {
        LocalChannel channel = keeper;
        if (channel == null) {
            return;
        }
        boolean sent = true;
        for (int i = 0; i < MOST_MESSAGES && sent && !changed.isEmpty(); i++) {
            sent = tellSome(channel);
        }
        if (!changed.isEmpty() && !channel.isClosed()) {
            tellSoon();
        }
    }

    private boolean tellSome(LocalChannel channel) {
        ByteBuffer out = message;
        if (out == null) {
            // Most processes are alone, and never need it.
            out = ByteBuffer.allocateDirect(LocalChannel.MAX_MESSAGE_BYTES);
            message = out;
        }
        int count = Math.min(changed.size(), WILLS_A_MESSAGE);
        RelayMessage.beginWills(out, count);
        Iterator<Integer> ids = changed.iterator();
        for (int i = 0; i < count; i++) {
            int id = ids.next();
            RelayMessage.putWill(out, i, id, crashDisconnects.get(id));
        }
        if (!channel.send(out, EMPTY)) {
            return false;
        }
        ids = changed.iterator();
        for (int i = 0; i < count; i++) {
            Integer id = ids.next();
            ids.remove();
            if (crashDisconnects.containsKey(id)) {
                told.add(id);
            } else {
                told.remove(id);
            }
        }
        return true;
    }
}

package io.rdma4j.soft.sharing;

import io.rdma4j.link.LocalChannel;
import io.rdma4j.soft.engine.DeadlineTask;
import io.rdma4j.soft.engine.Engine;
import java.nio.ByteBuffer;
import java.util.HashSet;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Sends this process' crash disconnects to another process of the host, its backup.
 *
 * <p>Changes are sent every {@value #PAUSE_NANOS} nanoseconds, many in one message, since each message wakes the other
 * process. A connection that ends within this time is never sent. Used under the engine lock.
 */
public final class CrashDisconnectPublisher extends DeadlineTask {
    private static final long PAUSE_NANOS = 10_000_000;

    /** The most messages sent at a time, so that the channel keeps room for other messages. */
    private static final int MAX_MESSAGES = 4;

    private static final int RECORDS_PER_MESSAGE =
            (LocalChannel.MAX_MESSAGE_BYTES - RelayMessage.RECORDS_AT) / RelayMessage.RECORD_BYTES;
    private static final ByteBuffer EMPTY = ByteBuffer.allocate(0);

    private final Engine engine;
    private final Map<Integer, CrashDisconnect> crashDisconnects = new LinkedHashMap<>();

    /** The communication IDs that the backup has a record of. */
    private final Set<Integer> published = new HashSet<>();

    /** The communication IDs whose latest state the backup does not have. */
    private final Set<Integer> changed = new LinkedHashSet<>();

    private @Nullable LocalChannel backup;
    private @Nullable ByteBuffer message;
    private boolean isScheduled;

    CrashDisconnectPublisher(Engine engine) {
        this.engine = engine;
    }

    /** Sets the channel to the backup, which has no records yet; null for none. */
    void publishTo(@Nullable LocalChannel channel) {
        backup = channel;
        published.clear();
        changed.clear();
        if (channel != null && !crashDisconnects.isEmpty()) {
            changed.addAll(crashDisconnects.keySet());
            publishSoon();
        }
    }

    /** Adds a connection with another address that must be disconnected when this process exits. */
    public void add(CrashDisconnect crashDisconnect) {
        crashDisconnects.put(crashDisconnect.localId(), crashDisconnect);
        if (backup != null) {
            changed.add(crashDisconnect.localId());
            publishSoon();
        }
    }

    /** Removes the connection of a communication ID, which is disconnected. */
    public void remove(int localId) {
        if (crashDisconnects.remove(localId) != null && backup != null) {
            if (published.contains(localId)) {
                changed.add(localId);
                publishSoon();
            } else {
                changed.remove(localId);
            }
        }
    }

    private void publishSoon() {
        if (!isScheduled) {
            isScheduled = true;
            engine.schedule(this, engine.nowNanos() + PAUSE_NANOS);
        }
    }

    @Override
    protected void onDeadline(long nowNanos) {
        isScheduled = false;
        publish();
    }

    /** Sends the changes now. Those that the channel has no room for are sent later. */
    public void publish() {
        LocalChannel channel = backup;
        if (channel == null) {
            return;
        }
        boolean sent = true;
        for (int i = 0; i < MAX_MESSAGES && sent && !changed.isEmpty(); i++) {
            sent = publishMessage(channel);
        }
        if (!changed.isEmpty() && !channel.isClosed()) {
            publishSoon();
        }
    }

    private boolean publishMessage(LocalChannel channel) {
        ByteBuffer out = message;
        if (out == null) {
            // Most processes do not share an address and never need it.
            out = ByteBuffer.allocateDirect(LocalChannel.MAX_MESSAGE_BYTES);
            message = out;
        }
        int count = Math.min(changed.size(), RECORDS_PER_MESSAGE);
        RelayMessage.beginCrashDisconnects(out, count);
        Iterator<Integer> ids = changed.iterator();
        for (int i = 0; i < count; i++) {
            int id = ids.next();
            RelayMessage.putCrashDisconnect(out, i, id, crashDisconnects.get(id));
        }
        if (!channel.send(out, EMPTY)) {
            return false;
        }
        ids = changed.iterator();
        for (int i = 0; i < count; i++) {
            Integer id = ids.next();
            ids.remove();
            if (crashDisconnects.containsKey(id)) {
                published.add(id);
            } else {
                published.remove(id);
            }
        }
        return true;
    }
}

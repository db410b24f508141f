package io.rdma4j.soft.engine;

import io.rdma4j.link.Link;
import io.rdma4j.link.LinkCapabilities;
import io.rdma4j.link.LinkStatistics;
import io.rdma4j.link.LocalChannel;
import io.rdma4j.link.ReceiveBurst;
import io.rdma4j.link.SendBurst;
import io.rdma4j.wire.Frame;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;

/**
 * The link of a process that does not own a port: it sends from a UDP port of its own, and receives there what other
 * processes of the address send, and by a channel what the owner passes on. It tells the owner the process' slot and
 * services.
 */
final class PortMember implements Link {
    private static final int SLOTS = 64;
    private static final int SLOT_BYTES = SendBurst.MAX_FRAME_BYTES + 64;

    /** Where nobody has to look at the channel it is looked at so often, and always for a while after a message. */
    private static final long LOOK_INTERVAL_NANOS = 50_000;

    private static final long BUSY_NANOS = 1_000_000;
    private static final int NOBODY = -1;
    private static final ByteBuffer EMPTY = ByteBuffer.allocate(0);

    private final SharedPort port;
    private final LocalChannel channel;
    private final Link sender;
    private final DirectFrames direct;
    private final ByteBuffer header = ByteBuffer.allocateDirect(RelayMessage.FRAME_HEADER_BYTES);
    private final MemorySegment memory = Arena.ofAuto().allocate((long) SLOTS * SLOT_BYTES, 64);
    private final ByteBuffer memoryView = memory.asByteBuffer();
    private final Set<Long> known = ConcurrentHashMap.newKeySet();
    private final LinkStatistics statistics = new LinkStatistics();
    private volatile boolean welcome;
    private int ownerSlot;
    private long now;
    private long lastLookNanos;
    private long lastMessageNanos;
    private boolean mustLook = true;

    /** Whether messages lie in the channel that the kernel knows nothing of any more. */
    private boolean mayHaveMore;

    private final CrashDisconnectStore ownersCrashDisconnects = new CrashDisconnectStore();
    private boolean startsDirect;
    private boolean ended;

    /** Whether it is this process that has closed the channel, so that the owner may live. */
    private boolean refused;

    /** Slot of a process that has ended after it sent the frames that were taken last; {@link #NOBODY} for none. */
    private int gone = NOBODY;

    /**
     * Joins the owner.
     *
     * @param channel to the owner
     * @param sender the process' own UDP port, which outlives this
     * @param slot of the process
     */
    PortMember(SharedPort port, LocalChannel channel, Link sender, int slot) {
        this.port = port;
        this.channel = channel;
        this.sender = new SiblingLink(sender, port.siblings());
        direct = new DirectFrames(sender, port.siblings());
        int udpPort = sender.localAddress().getPort();
        port.siblings().put(slot, udpPort);
        begin(RelayMessage.HELLO, RelayMessage.HELLO_BYTES)
                .put(1, RelayMessage.VERSION)
                .put(2, (byte) slot)
                .putShort(3, (short) udpPort);
        var _ = channel.send(header, EMPTY);
    }

    // ---- what the owner knows ----

    /** Whether the owner passes packets on to this process. */
    boolean isWelcome() {
        return welcome;
    }

    /** Whether the owner passes requests for a service on to this process. */
    boolean isKnown(long serviceId) {
        return known.contains(serviceId);
    }

    void listen(long serviceId) {
        sendService(RelayMessage.LISTEN, serviceId);
    }

    void close(long serviceId) {
        known.remove(serviceId);
        sendService(RelayMessage.UNLISTEN, serviceId);
    }

    private void sendService(byte kind, long serviceId) {
        begin(kind, RelayMessage.SERVICE_BYTES).putLong(RelayMessage.SERVICE_AT, serviceId);
        var _ = channel.send(header, EMPTY);
    }

    private ByteBuffer begin(byte kind, int bytes) {
        header.clear().limit(bytes);
        return header.put(0, kind);
    }

    /** Slot of the owner's process; 0 before it has said so. */
    int ownerSlot() {
        return ownerSlot;
    }

    /** Whether the owner has gone and all that it had sent and passed on was taken. */
    boolean hasEnded() {
        return ended;
    }

    /** What the owner has left when it has ended; it may be another process that keeps it. */
    List<CrashDisconnect> crashDisconnects() {
        return refused ? List.of() : ownersCrashDisconnects.open();
    }

    // ---- the link ----

    @Override
    public LinkCapabilities capabilities() {
        return sender.capabilities();
    }

    @Override
    public InetSocketAddress localAddress() {
        return sender.localAddress();
    }

    @Override
    public void send(SendBurst burst) {
        sender.send(burst);
    }

    /**
     * Says how the next {@link #poll} is to look at the channel, which is a system call.
     *
     * @param all whether it must; else it does while messages come, and now and then
     */
    void look(long nowNanos, boolean all) {
        now = nowNanos;
        mustLook = all || nowNanos - lastLookNanos >= LOOK_INTERVAL_NANOS || nowNanos - lastMessageNanos < BUSY_NANOS;
    }

    @Override
    public int poll(ReceiveBurst burst) {
        burst.clear();
        startsDirect = !startsDirect;
        boolean looked = startsDirect;
        if (looked) {
            takeDirect(burst);
        }
        while (burst.count() == 0) {
            boolean isEmpty = takeMessages(burst);
            boolean isEnd = isEmpty && channel.isClosed() && !ended;
            if (burst.count() == 0 && (!looked || gone != NOBODY || isEnd)) {
                // What a process has sent is here before the news of its end: now that is known, all can be taken.
                takeDirect(burst);
            }
            if (burst.count() > 0) {
                break;
            }
            if (gone == NOBODY) {
                end(isEnd);
                break;
            }
            tellGone();
        }
        return burst.count();
    }

    private void end(boolean isEnd) {
        if (isEnd) {
            ended = true;
            port.siblings().clear();
        }
    }

    /** Takes what other processes of this address have sent to this one without the owner. */
    private void takeDirect(ReceiveBurst burst) {
        statistics.receivedFrames.add(direct.take(burst));
    }

    /** Takes what the owner has to say, up to the news of an end; whether there was nothing left of it. */
    private boolean takeMessages(ReceiveBurst burst) {
        if (gone != NOBODY || !mustLook && !mayHaveMore) {
            return false;
        }
        lastLookNanos = now;
        mayHaveMore = true;
        while (burst.count() < SLOTS && !burst.isFull() && gone == NOBODY) {
            ByteBuffer message = channel.poll();
            if (message == null) {
                mayHaveMore = false;
                return true;
            }
            lastMessageNanos = now;
            onMessage(message, burst);
        }
        return false;
    }

    /** Tells that a process has ended, now that all that came before this news was taken. */
    private void tellGone() {
        int slot = gone;
        gone = NOBODY;
        port.onProcessGone(slot);
    }

    private void onMessage(ByteBuffer message, ReceiveBurst burst) {
        int at = message.position();
        int bytes = message.remaining();
        byte kind = bytes > 0 ? message.get(at) : 0;
        if (kind == RelayMessage.FRAME && bytes >= RelayMessage.FRAME_HEADER_BYTES) {
            onFrame(message, at, bytes - RelayMessage.FRAME_HEADER_BYTES, burst);
        } else if (kind == RelayMessage.WELCOME && bytes == 3 && message.get(at + 1) == RelayMessage.VERSION) {
            ownerSlot = message.get(at + 2) & 0xff;
            welcome = true;
            port.signal().raise();
        } else if (kind == RelayMessage.LISTENING && bytes == RelayMessage.SERVICE_BYTES) {
            known.add(message.getLong(at + RelayMessage.SERVICE_AT));
            port.signal().raise();
        } else if (kind == RelayMessage.GONE && bytes == 2) {
            gone = message.get(at + 1) & 0xff;
            port.siblings().put(gone, 0);
        } else if (kind == RelayMessage.NEIGHBOUR && bytes == RelayMessage.NEIGHBOUR_BYTES) {
            port.siblings().put(message.get(at + 1) & 0xff, message.getShort(at + 2) & 0xffff);
        } else if (kind == RelayMessage.WILLS && ownersCrashDisconnects.take(message, ownerSlot)) {
            return;
        } else {
            // Another version of this program, or none at all.
            refused = true;
            channel.close();
        }
    }

    private void onFrame(ByteBuffer message, int at, int length, ReceiveBurst burst) {
        if (length > SendBurst.MAX_FRAME_BYTES) {
            statistics.oversizeDatagrams.increment();
            return;
        }
        int offset = burst.count() * SLOT_BYTES;
        memoryView.put(offset, message, at + RelayMessage.FRAME_HEADER_BYTES, length);
        Frame frame = burst.add();
        frame.segment = memory;
        frame.buffer = memoryView;
        frame.offset = offset;
        frame.length = length;
        frame.trafficClass = message.get(at + 1) & 0xff;
        frame.sourcePort = message.getShort(at + 2) & 0xffff;
        frame.identification = message.getInt(at + 4);
        frame.sourceHigh = message.getLong(at + 8);
        frame.sourceLow = message.getLong(at + 16);
        frame.destinationHigh = port.high();
        frame.destinationLow = port.low();
        frame.destinationPort = Frame.UDP_PORT;
        frame.hopLimit = 64;
        statistics.receivedFrames.increment();
    }

    @Override
    public LinkStatistics statistics() {
        return statistics;
    }

    @Override
    public void close() {
        channel.close();
    }
}

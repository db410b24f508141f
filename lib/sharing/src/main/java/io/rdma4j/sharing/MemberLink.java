package io.rdma4j.sharing;

import io.rdma4j.link.Flow;
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
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;

/**
 * The link of a process that does not own a port.
 *
 * <p>It sends from its own UDP port, and receives there the frames that other processes of the address send directly. Through a
 * channel it receives the frames that the owner relays, and informs the owner of the process' slot and services.
 */
final class MemberLink implements Link {
    private static final int SLOTS = 64;
    private static final int SLOT_BYTES = SendBurst.MAX_FRAME_BYTES + 64;

    /**
     * The interval at which the channel is polled by calls that need not poll it. After a message it is always polled for a
     * while.
     */
    private static final long CHANNEL_POLL_INTERVAL_NANOS = 50_000;

    private static final long BUSY_NANOS = 1_000_000;
    private static final int NO_SLOT = -1;

    private final HostPort port;
    private final LocalChannel channel;
    private final Link sender;
    private final DirectFrames direct;
    private final ByteBuffer header = ByteBuffer.allocateDirect(RelayMessage.FRAME_HEADER_BYTES);
    private final MemorySegment memory = Arena.ofAuto().allocate((long) SLOTS * SLOT_BYTES, 64);
    private final ByteBuffer memoryView = memory.asByteBuffer();
    private final Set<Long> registeredServices = ConcurrentHashMap.newKeySet();
    private final LinkStatistics statistics = new LinkStatistics();
    private volatile boolean welcome;
    private int ownerSlot;
    private long now;
    private long lastChannelPollNanos;
    private long lastMessageNanos;
    private boolean mustPollChannel = true;

    /**
     * True if the channel may contain messages that were already read from the kernel, or its end that is not reported yet. Neither
     * ends a wait of the engine.
     */
    private boolean mayHaveMore;

    /** Null before the slot of the owner is known. */
    private @Nullable CrashDisconnectReader ownersCrashDisconnects;

    private boolean startsDirect;
    private boolean ended;

    /** True if another process has replaced the owner, which continues as a member. */
    private boolean resigned;

    /** The number of requests for a heartbeat since the last message of the owner. */
    private int unansweredPings;

    /** True if this process closed the channel, so the owner may still be running. */
    private boolean refused;

    /** The reason in the owner's refusal, and its version; 0 if it has sent none. */
    private byte refusal;

    private int ownerVersion;

    /** The slot of a process that exited after it sent the frames received last, or {@link #NO_SLOT}. */
    private int exitedSlot = NO_SLOT;

    /**
     * Joins the owner.
     *
     * @param channel the channel to the owner
     * @param sender the process' own UDP port, which outlives this object
     */
    MemberLink(HostPort port, LocalChannel channel, Link sender) {
        this.port = port;
        this.channel = channel;
        this.sender = sender;
        direct = new DirectFrames(sender, port.siblings());
        int slot = port.slot();
        int udpPort = sender.localAddress().getPort();
        port.siblings().put(slot, udpPort);
        RelayMessage.begin(header, RelayMessage.HELLO, RelayMessage.HELLO_BYTES)
                .put(1, RelayMessage.VERSION)
                .put(2, (byte) slot)
                .putShort(3, (short) udpPort);
        RelayMessage.send(channel, RelayMessage.HELLO, header);
    }

    // ---- registration with the owner ----

    /** Returns whether the owner relays packets to this process. */
    boolean isWelcome() {
        return welcome;
    }

    /** Returns whether the owner relays requests for a service to this process. */
    boolean isRegistered(long serviceId) {
        return registeredServices.contains(serviceId);
    }

    void registerService(long serviceId) {
        sendService(RelayMessage.LISTEN, serviceId);
    }

    void unregisterService(long serviceId) {
        registeredServices.remove(serviceId);
        sendService(RelayMessage.UNLISTEN, serviceId);
    }

    private void sendService(byte kind, long serviceId) {
        RelayMessage.begin(header, kind, RelayMessage.SERVICE_BYTES).putLong(RelayMessage.SERVICE_AT, serviceId);
        RelayMessage.send(
                channel,
                RelayMessage.LISTEN,
                serviceId,
                header); // one subject for both kinds: only the last message matters
    }

    /** Returns the slot of the owner's process; 0 before the owner has sent it. */
    int ownerSlot() {
        return ownerSlot;
    }

    /** Returns the owner's reason for refusing this process, a number of {@link RelayMessage}; 0 if it has sent none. */
    byte refusal() {
        return refusal;
    }

    /** Returns the owner's version of the messages; 0 if it is unknown. */
    int ownerVersion() {
        return ownerVersion;
    }

    /** Returns whether the owner has exited and everything that it sent and relayed was received. */
    boolean hasEnded() {
        return ended;
    }

    /** Returns the crash disconnects of the owner, for its exit; null if it has not exited, or has none. */
    @Nullable
    CrashDisconnectReader crashDisconnects() {
        return refused ? null : ownersCrashDisconnects;
    }

    // ---- watching the owner ----

    /** Requests a heartbeat from the owner. */
    void ping() {
        unansweredPings++;
        send(RelayMessage.PING);
    }

    /** Returns the number of calls of {@link #ping} since the last message of the owner. */
    int unansweredPings() {
        return unansweredPings;
    }

    /** Informs the owner that this process has another owner now. The owner reads this when it continues. */
    void leave() {
        send(RelayMessage.REPLACED);
    }

    private void send(byte kind) {
        RelayMessage.begin(header, kind, 1);
        RelayMessage.send(channel, kind, header);
    }

    /** Returns whether the owner was replaced, but has not exited. */
    boolean isResigned() {
        return resigned;
    }

    /**
     * Receives messages of an owner that was replaced, and may be stopped. All but the last ones have no effect. Returns
     * their number.
     */
    int receiveFromFormerOwner() {
        int received = 0;
        ByteBuffer message = channel.poll();
        while (message != null) {
            received++;
            byte kind = message.hasRemaining() ? message.get(message.position()) : 0;
            if (kind == RelayMessage.RESIGNED) {
                resigned = true;
                channel.close();
            }
            message = received < SLOTS ? channel.poll() : null;
        }
        ended |= received == 0 && channel.isClosed();
        return received;
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
    public @Nullable Flow openFlow(int sourcePort) {
        return sender.openFlow(sourcePort);
    }

    @Override
    public void send(SendBurst burst) {
        port.siblings().send(sender, burst);
    }

    /**
     * Determines how the next {@link #poll} polls the channel, which is a system call.
     *
     * @param all true to poll it; otherwise it is polled while messages arrive, and occasionally
     */
    void preparePoll(long nowNanos, boolean all) {
        now = nowNanos;
        mustPollChannel = all
                || nowNanos - lastChannelPollNanos >= CHANNEL_POLL_INTERVAL_NANOS
                || nowNanos - lastMessageNanos < BUSY_NANOS;
    }

    @Override
    public int poll(ReceiveBurst burst) {
        burst.clear();
        startsDirect = !startsDirect;
        boolean hasPolledDirect = startsDirect;
        if (hasPolledDirect) {
            receiveDirect(burst);
        }
        while (burst.count() == 0) {
            boolean isEmpty = receiveMessages(burst);
            boolean isEnd = isEmpty && channel.isClosed() && !ended;
            if (burst.count() == 0 && (!hasPolledDirect || exitedSlot != NO_SLOT || isEnd)) {
                // A process' frames arrive before the report of its exit: now that its exit is known, all of them can
                // be received.
                receiveDirect(burst);
            }
            if (burst.count() > 0) {
                break;
            }
            if (exitedSlot == NO_SLOT) {
                end(isEnd);
                break;
            }
            reportExit();
        }
        return burst.count();
    }

    private void end(boolean isEnd) {
        if (isEnd) {
            ended = true;
            port.siblings().onOwnerEnded();
        }
    }

    /** Receives the frames that other processes of this address sent directly to this one. */
    private void receiveDirect(ReceiveBurst burst) {
        statistics.receivedFrames.add(direct.poll(burst));
    }

    /** Receives messages of the owner, up to a report of an exit. Returns true if the channel is empty. */
    private boolean receiveMessages(ReceiveBurst burst) {
        if (exitedSlot != NO_SLOT || !mustPollChannel && !mayHaveMore) {
            return false;
        }
        lastChannelPollNanos = now;
        mayHaveMore = true;
        while (burst.count() < SLOTS && !burst.isFull() && exitedSlot == NO_SLOT) {
            ByteBuffer message = channel.poll();
            if (message == null) {
                mayHaveMore = channel.isClosed() && !ended; // direct frames come before the report of the end
                return true;
            }
            lastMessageNanos = now;
            unansweredPings = 0;
            onMessage(message, burst);
        }
        return false;
    }

    /** Reports that a process has exited, after all frames that arrived before were received. */
    private void reportExit() {
        int slot = exitedSlot;
        exitedSlot = NO_SLOT;
        port.onProcessExited(slot);
    }

    private void onMessage(ByteBuffer message, ReceiveBurst burst) {
        int at = message.position();
        int bytes = message.remaining();
        byte kind = bytes > 0 ? message.get(at) : 0;
        if (kind == RelayMessage.FRAME && bytes >= RelayMessage.FRAME_HEADER_BYTES) {
            onFrame(message, at, bytes - RelayMessage.FRAME_HEADER_BYTES, burst);
        } else if (kind == RelayMessage.WELCOME && bytes == 3 && message.get(at + 1) == RelayMessage.VERSION) {
            ownerSlot = message.get(at + 2) & 0xff;
            ownersCrashDisconnects = port.crashDisconnectsOf(ownerSlot);
            port.siblings().put(ownerSlot, 0); // it may have been a member, which received at its own port
            welcome = true;
            port.onWelcome();
        } else if (kind == RelayMessage.LISTENING && bytes == RelayMessage.SERVICE_BYTES) {
            registeredServices.add(message.getLong(at + RelayMessage.SERVICE_AT));
            port.onRegistered();
        } else if (kind == RelayMessage.EXITED && bytes == 2) {
            exitedSlot = message.get(at + 1) & 0xff;
            port.siblings().put(exitedSlot, 0);
        } else if (kind == RelayMessage.SIBLING && bytes == RelayMessage.SIBLING_BYTES) {
            port.siblings().put(message.get(at + 1) & 0xff, message.getShort(at + 2) & 0xffff);
        } else if (kind == RelayMessage.PONG && bytes == 1) {
            return; // its arrival is all that matters
        } else if (kind == RelayMessage.RESIGNED && bytes == 1) {
            resigned = true;
            channel.close();
        } else if (kind == RelayMessage.REFUSED && bytes == RelayMessage.REFUSED_BYTES && !welcome) {
            refusal = message.get(at + 1);
            ownerVersion = message.get(at + 2) & 0xff;
            refused = true;
            channel.close();
        } else {
            // Another version of this program, or another program.
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

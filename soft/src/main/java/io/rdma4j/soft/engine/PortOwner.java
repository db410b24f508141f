package io.rdma4j.soft.engine;

import io.rdma4j.link.Link;
import io.rdma4j.link.LinkSet;
import io.rdma4j.link.LocalChannel;
import io.rdma4j.link.ReceiveBurst;
import io.rdma4j.wire.Frame;
import io.rdma4j.wire.Packet;
import io.rdma4j.wire.cm.CmAttribute;
import io.rdma4j.wire.cm.CmMad;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * What the owner of a port does for the other processes: it knows their slots and services, and passes frames on. A
 * process whose channel ends is forgotten. Under the engine lock.
 */
final class PortOwner {
    /**
     * Time after a change of owner in which what is for an unknown service or process is dropped instead of refused: the
     * process may not have told the new owner yet, and the peer repeats itself.
     */
    static final long GRACE_NANOS = 1_000_000_000;

    /** Least time between two looks for a new process, so that strays cost little. */
    private static final long SEARCH_INTERVAL_NANOS = 1_000_000;

    /** More frames than a socket's buffer holds; who sends faster than they are taken does not hold up the rest. */
    private static final int DRAIN_LIMIT_FRAMES = 1 << 14;

    private static final int BURST_FRAMES = 128;
    private static final int SLOTS = 256;
    private static final ByteBuffer EMPTY = ByteBuffer.allocate(0);

    /** Another process. */
    private static final class Member {
        private final LocalChannel channel;
        private final Set<Long> services = new HashSet<>();
        private final CrashDisconnectStore crashDisconnects = new CrashDisconnectStore();
        private int slot;
        private int udpPort;
        private boolean isExpelled;

        Member(LocalChannel channel) {
            this.channel = channel;
        }
    }

    private final Engine engine;
    private final SharedPort port;
    private final LinkSet.LocalListener listener;
    private final long graceEndsNanos;
    private final List<Member> members = new ArrayList<>();
    private final @Nullable Member[] bySlot = new @Nullable Member[SLOTS];
    private final ByteBuffer header = ByteBuffer.allocateDirect(RelayMessage.FRAME_HEADER_BYTES);
    private final ReceiveBurst lastFrames = new ReceiveBurst(BURST_FRAMES);
    private long lastSearchNanos;

    /** Who keeps the last wills of this process. */
    private @Nullable Member backupProcess;

    PortOwner(Engine engine, SharedPort port, LinkSet.LocalListener listener, long graceEndsNanos) {
        this.engine = engine;
        this.port = port;
        this.listener = listener;
        this.graceEndsNanos = graceEndsNanos;
    }

    // ---- members ----

    /** Takes in new members and their messages, and sees who has gone; returns how many messages. */
    int receive() {
        int taken = takeMessages();
        boolean isDrained = false;
        for (int i = members.size() - 1; i >= 0; i--) {
            Member member = members.get(i);
            if (member.channel.isClosed()) {
                if (!isDrained) {
                    drain();
                    isDrained = true;
                }
                forget(member);
            }
        }
        return taken;
    }

    /**
     * Takes what has arrived until nothing is left. A process closes its channel after all that it sends: what it has sent is
     * here when the end of the channel was seen, and goes to whom it is for before the news of the end, which would end
     * their connections.
     */
    private void drain() {
        Link link = port.link();
        int frames = 0;
        int taken = link.poll(lastFrames);
        while (taken > 0) {
            for (int i = 0; i < taken; i++) {
                engine.receiver().onFrame(engine.nowNanos(), port, lastFrames.frame(i));
            }
            frames += taken;
            taken = frames < DRAIN_LIMIT_FRAMES ? link.poll(lastFrames) : 0;
        }
    }

    private int takeMessages() {
        int taken = 0;
        LocalChannel fresh = listener.accept();
        while (fresh != null) {
            members.add(new Member(fresh));
            taken++;
            fresh = listener.accept();
        }
        for (int i = members.size() - 1; i >= 0; i--) {
            Member member = members.get(i);
            ByteBuffer message = member.channel.poll();
            while (message != null) {
                onMessage(member, message);
                taken++;
                message = member.channel.poll();
            }
        }
        return taken;
    }

    private void onMessage(Member member, ByteBuffer message) {
        int at = message.position();
        int bytes = message.remaining();
        byte kind = bytes > 0 ? message.get(at) : 0;
        if (kind == RelayMessage.HELLO
                && member.slot == 0 // once: it would leave its first slot behind
                && bytes == RelayMessage.HELLO_BYTES
                && message.get(at + 1) == RelayMessage.VERSION
                && isAnothers(message.get(at + 2) & 0xff)
                && message.getShort(at + 3) != 0) {
            welcome(member, message.get(at + 2) & 0xff, message.getShort(at + 3) & 0xffff);
        } else if (kind == RelayMessage.LISTEN && bytes == RelayMessage.SERVICE_BYTES) {
            long service = message.getLong(at + RelayMessage.SERVICE_AT);
            member.services.add(service);
            begin(RelayMessage.LISTENING, RelayMessage.SERVICE_BYTES).putLong(RelayMessage.SERVICE_AT, service);
            var _ = member.channel.send(header, EMPTY);
        } else if (kind == RelayMessage.UNLISTEN && bytes == RelayMessage.SERVICE_BYTES) {
            member.services.remove(message.getLong(at + RelayMessage.SERVICE_AT));
        } else if (kind == RelayMessage.WILLS && member.crashDisconnects.take(message, member.slot)) {
            return;
        } else {
            // Another version of this program, or none at all.
            member.isExpelled = true;
            member.channel.close();
        }
    }

    /** Whether a slot is one that a process other than this can have. */
    private boolean isAnothers(int slot) {
        return slot != 0 && slot != engine.slot();
    }

    private void welcome(Member member, int slot, int udpPort) {
        member.slot = slot;
        member.udpPort = udpPort;
        bySlot[slot] = member;
        port.siblings().put(slot, udpPort);
        // Before the newcomer is welcome, so that its first frame and the answer go the way that all others will.
        for (Member other : members) {
            if (other != member && bySlot[other.slot] == other) {
                introduce(member, other);
                introduce(other, member);
            }
        }
        begin(RelayMessage.WELCOME, 3).put(1, RelayMessage.VERSION).put(2, (byte) engine.slot());
        var _ = member.channel.send(header, EMPTY);
        if (backupProcess == null) {
            appoint(member);
        }
    }

    private void appoint(@Nullable Member keeper) {
        backupProcess = keeper;
        port.willKeeper(keeper == null ? null : keeper.channel);
    }

    private @Nullable Member anyMember() {
        for (Member member : members) {
            if (bySlot[member.slot] == member && !member.channel.isClosed()) {
                return member;
            }
        }
        return null;
    }

    /** Tells {@code to} how to reach {@code who}; without that it sends to this process, which passes on. */
    private void introduce(Member who, Member to) {
        begin(RelayMessage.NEIGHBOUR, RelayMessage.NEIGHBOUR_BYTES)
                .put(1, (byte) who.slot)
                .putShort(2, (short) who.udpPort);
        var _ = to.channel.send(header, EMPTY);
    }

    private ByteBuffer begin(byte kind, int bytes) {
        header.clear().limit(bytes);
        return header.put(0, kind);
    }

    private void forget(Member member) {
        members.remove(member);
        member.channel.close();
        if (bySlot[member.slot] == member) {
            bySlot[member.slot] = null;
            port.siblings().put(member.slot, 0);
            if (!member.isExpelled) {
                tellGone(member.slot);
                port.onLastWills(member.crashDisconnects.open());
            }
        }
        if (backupProcess == member) {
            appoint(anyMember());
        }
    }

    /** A process has ended, maybe without a word to its peers: those on this address learn it here. */
    private void tellGone(int slot) {
        begin(RelayMessage.GONE, 2).put(1, (byte) slot);
        for (Member member : members) {
            var _ = member.channel.send(header, EMPTY);
        }
        port.onProcessGone(slot);
    }

    // ---- frames ----

    /** Passes a frame on; false if no process has the slot. */
    boolean relay(int slot, Frame frame) {
        Member member = find(slot);
        if (member == null) {
            return false;
        }
        pass(member, frame);
        return true;
    }

    /**
     * The process of a slot, or null if there is none. Looks whether it has just come: after a change of owner, what its peers
     * answer to its first packets can arrive here before its greeting was read.
     */
    private @Nullable Member find(int slot) {
        Member member = bySlot[slot & 0xff];
        if (member == null && engine.nowNanos() - lastSearchNanos >= SEARCH_INTERVAL_NANOS) {
            lastSearchNanos = engine.nowNanos();
            // Who has gone is seen later: the frames of a burst are being passed on.
            var _ = takeMessages();
            member = bySlot[slot & 0xff];
        }
        return member;
    }

    private void pass(Member member, Frame frame) {
        begin(RelayMessage.FRAME, RelayMessage.FRAME_HEADER_BYTES)
                .put(1, (byte) frame.trafficClass)
                .putShort(2, (short) frame.sourcePort)
                .putInt(4, frame.identification)
                .putLong(8, frame.sourceHigh)
                .putLong(16, frame.sourceLow);
        ByteBuffer body = frame.buffer;
        int position = body.position();
        int limit = body.limit();
        body.limit(frame.offset + frame.length).position(frame.offset);
        boolean sent = member.channel.send(header, body);
        body.limit(limit).position(position);
        if (sent) {
            engine.counters().relayedPackets++;
        } else {
            engine.counters().relayDrops++;
        }
    }

    /**
     * Passes a management datagram on to the processes it is for: requests by service ID, answers by the slot in the
     * communication ID that the receiver had chosen, and a REJ that names none to all.
     *
     * @return whether it is also, or only, for this process
     */
    boolean routeGsi(Packet packet) {
        MemorySegment mad = packet.segment();
        long at = packet.payloadOffset();
        if (CmMad.check(mad, at, packet.payloadLength()) != CmMad.Result.OK) {
            return true;
        }
        CmAttribute attribute = CmMad.attribute(mad, at);
        if (attribute == CmAttribute.REQ || attribute == CmAttribute.SIDR_REQ) {
            return routeRequest(CmMad.serviceId(mad, at), packet);
        }
        int receiver = CmMad.receiverId(mad, at);
        if (receiver == 0) {
            for (Member member : members) {
                pass(member, packet.frame());
            }
            return true;
        }
        return routeAnswer(Slot.ofCommunicationId(receiver), packet);
    }

    /**
     * An answer for a slot that nobody has is this process' to refuse, in the name of the process that has gone; but not
     * while a process may only not have come back to a new owner.
     */
    private boolean routeAnswer(int slot, Packet packet) {
        if (slot == engine.slot()) {
            return true;
        }
        Member member = find(slot);
        if (member == null) {
            return isGraceOver();
        }
        pass(member, packet.frame());
        return false;
    }

    private boolean routeRequest(long serviceId, Packet packet) {
        if (port.listens(serviceId)) {
            return true;
        }
        for (Member member : members) {
            if (member.services.contains(serviceId)) {
                pass(member, packet.frame());
                return false;
            }
        }
        return isGraceOver();
    }

    private boolean isGraceOver() {
        return graceEndsNanos == Long.MIN_VALUE || engine.nowNanos() - graceEndsNanos >= 0;
    }
}

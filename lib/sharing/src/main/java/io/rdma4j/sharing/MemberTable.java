package io.rdma4j.sharing;

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
 * The other processes of an address, which the owner of its port serves. Used under the engine lock.
 *
 * <p>It knows their slots and services, and relays frames to them. A process is removed when its channel ends.
 */
final class MemberTable {
    /**
     * The time after a change of owner in which packets for an unknown service or process are dropped instead of
     * rejected. The process may not have registered with the new owner yet, and the peer retransmits.
     */
    static final long GRACE_NANOS = 1_000_000_000;

    /** The minimum time between two checks for a new process, so that packets with unknown slots cost little. */
    private static final long CHECK_INTERVAL_NANOS = 1_000_000;

    /**
     * More frames than a socket's buffer holds, so that a peer that sends faster than they are received does not delay
     * the rest.
     */
    private static final int DRAIN_LIMIT_FRAMES = 1 << 14;

    private static final int BURST_FRAMES = 128;
    private static final int SLOTS = 256;

    /** Another process that shares the address. */
    private static final class Member {
        private final LocalChannel channel;
        private final Set<Long> services = new HashSet<>();
        private int slot;
        private int udpPort;
        private @Nullable CrashDisconnectReader crashDisconnects;
        private boolean isExpelled;

        Member(LocalChannel channel) {
            this.channel = channel;
        }
    }

    private final PortEngine engine;
    private final HostPort port;
    private final SharingCounters counters;
    private final LinkSet.LocalListener listener;
    private long graceEndsNanos;
    private final List<Member> members = new ArrayList<>();
    private final @Nullable Member[] bySlot = new @Nullable Member[SLOTS];
    private final ByteBuffer header = ByteBuffer.allocateDirect(RelayMessage.FRAME_HEADER_BYTES);
    private final ReceiveBurst lastFrames = new ReceiveBurst(BURST_FRAMES);
    private long lastCheckNanos;

    MemberTable(PortEngine engine, HostPort port, LinkSet.LocalListener listener, long graceEndsNanos) {
        this.engine = engine;
        this.port = port;
        counters = port.counters();
        this.listener = listener;
        this.graceEndsNanos = graceEndsNanos;
        listener.refuseWith(RelayMessage.beginRefused(header, RelayMessage.NO_DESCRIPTORS));
    }

    // ---- members ----

    /**
     * Accepts new members, processes messages, and removes members that have exited; returns the number of messages.
     */
    int receive() {
        int received = receiveMessages();
        boolean isDrained = false;
        for (int i = members.size() - 1; i >= 0; i--) {
            Member member = members.get(i);
            if (member.channel.isClosed()) {
                if (port.replacement().isReplaced()) {
                    port.replacement().checkSoon();
                    return received; // it may have joined the new owner
                }
                if (!isDrained) {
                    drain();
                    isDrained = true;
                }
                remove(member);
            }
        }
        return received;
    }

    /**
     * Receives until nothing is left. A process closes its channel after everything that it sends. When the end of the channel
     * was seen, all its frames are therefore here, and are delivered before the report of the exit, which disconnects its peers.
     */
    private void drain() {
        Link link = port.link();
        port.pollEverythingNext();
        int frames = 0;
        int received = link.poll(lastFrames);
        while (received > 0) {
            engine.receiver().onFrames(engine.nowNanos(), port, lastFrames);
            frames += received;
            received = frames < DRAIN_LIMIT_FRAMES ? link.poll(lastFrames) : 0;
        }
    }

    private int receiveMessages() {
        int received = 0;
        LocalChannel accepted = listener.accept();
        while (accepted != null) {
            members.add(new Member(accepted));
            received++;
            accepted = listener.accept();
        }
        for (int i = members.size() - 1; i >= 0; i--) {
            Member member = members.get(i);
            ByteBuffer message = member.channel.poll();
            while (message != null) {
                onMessage(member, message);
                received++;
                message = member.channel.poll();
            }
        }
        return received;
    }

    private void onMessage(Member member, ByteBuffer message) {
        int at = message.position();
        int bytes = message.remaining();
        byte kind = bytes > 0 ? message.get(at) : 0;
        if (kind == RelayMessage.HELLO
                && member.slot == 0 // once only: otherwise its first slot would remain in the table
                && bytes == RelayMessage.HELLO_BYTES
                && message.get(at + 1) == RelayMessage.VERSION
                && isOtherProcess(message.get(at + 2) & 0xff)
                && message.getShort(at + 3) != 0) {
            welcome(member, message.get(at + 2) & 0xff, message.getShort(at + 3) & 0xffff);
        } else if (kind == RelayMessage.LISTEN && bytes == RelayMessage.SERVICE_BYTES) {
            long service = message.getLong(at + RelayMessage.SERVICE_AT);
            member.services.add(service);
            RelayMessage.begin(header, RelayMessage.LISTENING, RelayMessage.SERVICE_BYTES)
                    .putLong(RelayMessage.SERVICE_AT, service);
            RelayMessage.send(member.channel, RelayMessage.LISTENING, service, header);
        } else if (kind == RelayMessage.UNLISTEN && bytes == RelayMessage.SERVICE_BYTES) {
            member.services.remove(message.getLong(at + RelayMessage.SERVICE_AT));
        } else if (kind == RelayMessage.PING && bytes == 1) {
            RelayMessage.begin(header, RelayMessage.PONG, 1);
            RelayMessage.send(member.channel, RelayMessage.PONG, header);
        } else if (kind == RelayMessage.REPLACED && bytes == 1) {
            port.replacement().checkSoon();
        } else {
            // Another version of this program, or another program.
            if (kind == RelayMessage.HELLO && member.slot == 0) {
                RelayMessage.beginRefused(header, RelayMessage.OTHER_VERSION);
                RelayMessage.send(member.channel, RelayMessage.REFUSED, header);
            }
            member.isExpelled = true;
            member.channel.close();
        }
    }

    /** Returns whether a slot can belong to another process. */
    private boolean isOtherProcess(int slot) {
        return slot != 0 && slot != port.slot();
    }

    private void welcome(Member member, int slot, int udpPort) {
        member.slot = slot;
        member.udpPort = udpPort;
        bySlot[slot] = member;
        member.crashDisconnects = port.crashDisconnectsOf(slot);
        port.siblings().put(slot, udpPort);
        // Before WELCOME, so that the first frame of the new member and the response take the same path as all later
        // ones.
        for (Member other : members) {
            if (other != member && bySlot[other.slot] == other) {
                introduce(member, other);
                introduce(other, member);
            }
        }
        RelayMessage.begin(header, RelayMessage.WELCOME, 3)
                .put(1, RelayMessage.VERSION)
                .put(2, (byte) port.slot());
        RelayMessage.send(member.channel, RelayMessage.WELCOME, header);
        port.claimInput(); // it may have closed a socket of the port
    }

    /** Sends {@code to} the UDP port of {@code member}. Without it, {@code to} sends to this process, which relays. */
    private void introduce(Member member, Member to) {
        RelayMessage.begin(header, RelayMessage.SIBLING, RelayMessage.SIBLING_BYTES)
                .put(1, (byte) member.slot)
                .putShort(2, (short) member.udpPort);
        RelayMessage.send(to.channel, RelayMessage.SIBLING, member.slot, header);
    }

    private void remove(Member member) {
        members.remove(member);
        member.channel.close();
        port.claimInput(); // its sockets of the port, if any, are closed
        if (bySlot[member.slot] == member) {
            bySlot[member.slot] = null;
            port.siblings().put(member.slot, 0);
            if (!member.isExpelled) {
                reportExit(member.slot);
                port.onCrashDisconnects(member.crashDisconnects);
            }
        }
    }

    /**
     * Reports the exit of a process, which may not have disconnected its peers, to the other processes of this address.
     */
    private void reportExit(int slot) {
        RelayMessage.begin(header, RelayMessage.EXITED, 2).put(1, (byte) slot);
        for (Member member : members) {
            RelayMessage.send(member.channel, RelayMessage.EXITED, slot, header);
        }
        port.onProcessExited(slot);
    }

    /**
     * Stops serving the members, because another process has taken over the address.
     *
     * @param closing closes their channels
     */
    void resign(ClosingChannels closing) {
        RelayMessage.begin(header, RelayMessage.RESIGNED, 1);
        for (Member member : members) {
            RelayMessage.send(member.channel, RelayMessage.RESIGNED, header);
            closing.add(member.channel);
        }
        members.clear();
        listener.close();
    }

    /**
     * Reports the processes that have exited together with the former owner, or unnoticed while it was stopped. Processes that
     * exist but have not joined may be stopped.
     */
    void reportLost() {
        for (int slot = 1; slot < SLOTS && isGraceOver(); slot++) {
            if (bySlot[slot] == null && port.siblings().knows(slot)) {
                // Opened before the slot is found free: afterwards, another process may claim it, with its own file.
                CrashDisconnectReader left = port.crashDisconnectsOf(slot);
                if (!port.isSlotInUse(slot)) {
                    port.siblings().put(slot, 0);
                    reportExit(slot);
                    port.onCrashDisconnects(left);
                }
            }
        }
    }

    // ---- frames ----

    /** Relays a frame; returns false if no process has the slot. */
    boolean relay(int slot, Frame frame) {
        Member member = find(slot);
        if (member == null) {
            return false;
        }
        relayTo(member, frame);
        return true;
    }

    /**
     * Returns the process of a slot, or null. Checks whether the process has just connected: after a change of owner,
     * responses to its first packets can arrive here before its HELLO was read.
     */
    private @Nullable Member find(int slot) {
        Member member = bySlot[slot & 0xff];
        if (member == null && engine.nowNanos() - lastCheckNanos >= CHECK_INTERVAL_NANOS) {
            lastCheckNanos = engine.nowNanos();
            // Exits are processed later: the frames of a burst are being relayed.
            var _ = receiveMessages();
            member = bySlot[slot & 0xff];
        }
        return member;
    }

    private void relayTo(Member member, Frame frame) {
        RelayMessage.begin(header, RelayMessage.FRAME, RelayMessage.FRAME_HEADER_BYTES)
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
            counters.relayedPackets++;
        } else {
            counters.relayDrops++;
        }
    }

    /**
     * Relays a management datagram to the processes it is for. The service ID determines the process of a request, the slot in
     * the receiver's communication ID determines the process of another message. A REJ without such an ID is relayed to all.
     *
     * @return true if it is also, or only, for this process
     */
    boolean routeGsi(Packet packet) {
        MemorySegment mad = packet.payloadSegment();
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
                relayTo(member, packet.frame());
            }
            return true;
        }
        return routeToSlot(Slot.ofCommunicationId(receiver), packet);
    }

    /**
     * Relays a message to the process of a slot. If no process has the slot, this process rejects the message on behalf
     * of the process that has exited, except while that process may not have joined the new owner yet: it may be stopped.
     */
    private boolean routeToSlot(int slot, Packet packet) {
        if (slot == port.slot()) {
            return true;
        }
        Member member = find(slot);
        if (member == null) {
            return isGraceOver() && !port.isSlotInUse(slot);
        }
        relayTo(member, packet.frame());
        return false;
    }

    private boolean routeRequest(long serviceId, Packet packet) {
        if (port.serves(serviceId)) {
            return true;
        }
        for (Member member : members) {
            if (member.services.contains(serviceId)) {
                relayTo(member, packet.frame());
                return false;
            }
        }
        return isGraceOver() && !port.mayHaveUnknownServices();
    }

    /** Waits again for processes to register: a former owner has resigned, and it and those that it has replaced join now. */
    void beginGrace() {
        graceEndsNanos = engine.nowNanos() + GRACE_NANOS;
    }

    private boolean isGraceOver() {
        return graceEndsNanos == Long.MIN_VALUE || engine.nowNanos() - graceEndsNanos >= 0;
    }
}

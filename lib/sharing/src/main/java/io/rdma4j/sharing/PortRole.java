package io.rdma4j.sharing;

import io.rdma4j.link.Link;
import io.rdma4j.link.ReceiveBurst;
import io.rdma4j.wire.Frame;
import io.rdma4j.wire.Packet;
import java.io.IOException;
import java.net.InetAddress;
import org.jspecify.annotations.Nullable;

/**
 * The role of this process at UDP port 4791 of an address. {@link HostPort} has the transitions:
 *
 * <pre>
 * NotOpen   ──► Owner      binds the port, or takes it over
 *           ──► Member     joins the owner
 * Member    ──► Ownerless  the owner has exited, or refuses this process
 *           ──► Owner      takes over from an owner that is stopped
 *           ──► Member     joins the process that has taken over
 * Owner     ──► Ownerless  another process has taken over while this one was stopped
 * Ownerless ──► Owner      binds the port, or takes it over
 *           ──► Member     joins the new owner
 * </pre>
 *
 * <p>All methods are called under the engine lock unless stated otherwise.
 */
sealed interface PortRole {
    /** Returns the name of the role, for reports: {@code none} without an owner. */
    default String name() {
        return "none";
    }

    /** Returns the link that frames are sent through. */
    Link link();

    /**
     * Returns the UDP port that frames are sent from, null before there is one. The first one is used for the lifetime of the
     * process, in every role: peers bind a queue pair to the source port that they know.
     */
    @Nullable
    Link sender();

    /** Receives a burst; see {@link HostPort#receive}. */
    int receive(long nowNanos, boolean all);

    /** Receives from the sender, if {@link #receive} does not always poll it; returns the number of frames. */
    default int receiveStray(long nowNanos) {
        return 0;
    }

    /** Makes the next poll of the link also receive from UDP, which it rarely does while rings are busy. */
    default void pollEverythingNext(long nowNanos) {}

    /** Returns whether packets for this process arrive. Any thread. */
    default boolean isConnected() {
        return false;
    }

    /** Returns whether requests for a service of this process arrive. Any thread. */
    default boolean isRegistered(long serviceId) {
        return false;
    }

    /** Makes requests for a service arrive at this process. */
    default void registerService(long serviceId) {}

    /** Reverts {@link #registerService}. */
    default void unregisterService(long serviceId) {}

    /** Relays a frame to the process of a slot; returns false if this process relays none to it. */
    default boolean relay(int slot, Frame frame) {
        return false;
    }

    /** Relays a management datagram to the processes that it is for; returns whether it is for this process. */
    default boolean routeGsi(Packet packet) {
        return true;
    }

    /** The port is not open yet. */
    record NotOpen(InetAddress address) implements PortRole {
        @Override
        public Link link() {
            throw new IllegalStateException("port " + address + " is not open");
        }

        @Override
        public @Nullable Link sender() {
            return null;
        }

        @Override
        public int receive(long nowNanos, boolean all) {
            return 0;
        }
    }

    /** This process has bound UDP port 4791, and relays frames to the members. */
    final class Owner implements PortRole {
        private static final int RARELY_MASK = 31;

        /** Selects one poll in 1024 while rings are busy: their polls are frequent, since they are not system calls. */
        private static final int SELDOM_MASK = 1023;

        private final FrameReceiver receiver;
        private final HostPort port;
        private final MemberTable members;
        private final Link bound;
        private final Link sender;
        private final SiblingLink udp;
        private final RingLink rings;
        private final Link link;
        private final ReceiveBurst burst;
        private int receives;

        /**
         * Creates the role.
         *
         * @param bound the undecorated link of UDP port 4791
         * @param sender the UDP port that this process has sent from so far; null for its first role, which sends from {@code bound}
         */
        Owner(PortEngine engine, HostPort port, MemberTable members, Link bound, @Nullable Link sender) {
            receiver = engine.receiver();
            this.port = port;
            this.members = members;
            this.bound = bound;
            this.sender = sender == null ? bound : sender;
            AddressSiblings siblings = port.siblings();
            udp = sender == null ? new SiblingLink(bound, siblings) : new InheritedLink(bound, sender, siblings);
            rings = port.withRings(udp);
            link = engine.decorator().decorate(rings);
            burst = port.burst();
        }

        /** Returns the undecorated link of UDP port 4791. Any thread. */
        Link bound() {
            return bound;
        }

        MemberTable members() {
            return members;
        }

        @Override
        public String name() {
            return "owner";
        }

        @Override
        public Link link() {
            return link;
        }

        @Override
        public Link sender() {
            return sender;
        }

        @Override
        public int receive(long nowNanos, boolean all) {
            if (port.resignsIfReplaced(this, nowNanos)) {
                return 1;
            }
            rings.preparePoll(nowNanos, all);
            int received = link.poll(burst);
            if (received > 0) {
                receiver.onFrames(nowNanos, port, burst);
            }
            if (all || (++receives & (port.isMemoryBusy(nowNanos) ? SELDOM_MASK : RARELY_MASK)) == 0) {
                received += members.receive();
            }
            return received;
        }

        /** Polls the sender of a process that was not the first owner: {@link InheritedLink} polls it rarely. */
        @Override
        public int receiveStray(long nowNanos) {
            if (udp instanceof InheritedLink inherited) {
                inherited.pollSenderNext();
                return port.receive(nowNanos, false);
            }
            return 0;
        }

        @Override
        public void pollEverythingNext(long nowNanos) {
            rings.preparePoll(nowNanos, true);
        }

        @Override
        public boolean isConnected() {
            return true;
        }

        @Override
        public boolean isRegistered(long serviceId) {
            return true;
        }

        @Override
        public boolean relay(int slot, Frame frame) {
            return members.relay(slot, frame);
        }

        @Override
        public boolean routeGsi(Packet packet) {
            return members.routeGsi(packet);
        }

        /**
         * Returns the next role, because another process has taken over. UDP port 4791 then receives nothing, but a first owner
         * continues to send from it.
         */
        Ownerless resigned(long nowNanos) {
            bound.abandonInput();
            if (udp instanceof InheritedLink) {
                close(link);
            }
            return new Ownerless(port, link, sender, false, nowNanos);
        }
    }

    /** Another process owns the port, and relays frames to this one. */
    final class Member implements PortRole {
        private final HostPort port;
        private final MemberLink owner;
        private final Link sender;
        private final RingLink rings;
        private final Link link;
        private final ReceiveBurst burst;

        /**
         * Creates the role.
         *
         * @param owner the link that has the channel to the owner
         */
        Member(PortEngine engine, HostPort port, MemberLink owner, Link sender) {
            this.port = port;
            this.owner = owner;
            this.sender = sender;
            rings = port.withRings(owner);
            link = engine.decorator().decorate(rings);
            burst = port.burst();
        }

        /** Returns the link that has the channel to the owner. */
        MemberLink owner() {
            return owner;
        }

        @Override
        public String name() {
            return "member";
        }

        @Override
        public Link link() {
            return link;
        }

        @Override
        public Link sender() {
            return sender;
        }

        @Override
        public int receive(long nowNanos, boolean all) {
            rings.preparePoll(nowNanos, all);
            owner.preparePoll(nowNanos, all);
            int received = port.receiveOwn(nowNanos, link.poll(burst));
            if (received == 0 && owner.hasEnded()) {
                port.onOwnerEnded(this);
            }
            return received;
        }

        @Override
        public boolean isConnected() {
            return owner.isWelcome();
        }

        @Override
        public boolean isRegistered(long serviceId) {
            return owner.isRegistered(serviceId);
        }

        @Override
        public void registerService(long serviceId) {
            owner.registerService(serviceId);
        }

        @Override
        public void unregisterService(long serviceId) {
            owner.unregisterService(serviceId);
        }

        /** Returns the next role, because the owner has ended the channel. */
        Ownerless abandoned(long nowNanos) {
            return new Ownerless(port, link, sender, true, nowNanos);
        }
    }

    /** No process owns the port, as far as this process knows. It sends through the link of its last role until it has another one. */
    final class Ownerless implements PortRole {
        private final HostPort port;
        private final Link link;
        private final Link sender;
        private final DirectFrames direct;
        private final boolean closesLink;
        private final long sinceNanos;

        /**
         * Creates the role.
         *
         * @param link the link of the last role
         * @param closesLink true to close it with this role
         */
        Ownerless(HostPort port, Link link, Link sender, boolean closesLink, long sinceNanos) {
            this.port = port;
            this.link = link;
            this.sender = sender;
            this.closesLink = closesLink;
            this.sinceNanos = sinceNanos;
            direct = new DirectFrames(sender, port.siblings());
        }

        @Override
        public Link link() {
            return link;
        }

        @Override
        public Link sender() {
            return sender;
        }

        @Override
        public int receive(long nowNanos, boolean all) {
            return port.receiveFromRings(nowNanos);
        }

        @Override
        public int receiveStray(long nowNanos) {
            return port.receiveOwn(nowNanos, direct.poll(port.burst()));
        }

        /** Returns whether a port in use may be taken over: there was time to join its owner, or this process holds it itself. */
        boolean mayTakeOver(long nowNanos) {
            return nowNanos - sinceNanos >= HostPort.TAKEOVER_NANOS
                    || sender.localAddress().getPort() == Frame.UDP_PORT;
        }

        /** Ends the role, when there is another one. */
        void end() {
            if (closesLink) {
                close(link);
            }
        }
    }

    private static void close(Link link) {
        try {
            link.close();
        } catch (IOException e) {
            return; // it buffers nothing
        }
    }
}

package io.rdma4j.soft.engine;

import io.rdma4j.link.Link;
import io.rdma4j.link.LinkSet;
import io.rdma4j.link.LocalChannel;
import io.rdma4j.link.ReceiveBurst;
import io.rdma4j.verbs.Errno;
import io.rdma4j.verbs.RdmaException;
import io.rdma4j.wire.Frame;
import io.rdma4j.wire.Packet;
import java.io.IOException;
import java.net.BindException;
import java.net.InetAddress;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * The main engine's port of an address. One process of the host has UDP port 4791 of the address, the owner; it passes on
 * what is for the others, which send from a UDP port of their own. When the owner goes, the others race to follow it.
 *
 * <p>All methods under the engine lock unless they say otherwise.
 */
public final class SharedPort extends Port {
    private static final int BURST_FRAMES = 128;
    private static final int RARELY_MASK = 31;
    private static final long FIRST_RETRY_NANOS = 2_000_000;
    private static final long LONGEST_RETRY_NANOS = 200_000_000;

    /** How long a listener waits for the owner to take note of it. */
    private static final long REGISTRATION_NANOS = 2_000_000_000;

    private final Engine engine;
    private final Path socket;
    private final ReceiveBurst burst = new ReceiveBurst(BURST_FRAMES);
    private final Set<Long> services = new LinkedHashSet<>();
    private final AddressSiblings siblings;
    private final CrashDisconnectPublisher crashDisconnects;
    private final Signal signal = new Signal();
    private final DeadlineTask retry = new Retry();
    private long retryNanos = FIRST_RETRY_NANOS;
    private @Nullable Link link;

    /** The link of UDP port 4791, without what is around it; null in a process that does not own the port. */
    private volatile @Nullable Link owned;

    /**
     * The UDP port that frames leave from: the first that this process had, for all its life, whoever owns UDP port 4791. Peers
     * hold a queue pair to the port that they know of it.
     */
    private @Nullable Link sender;

    /** The link of an owner that has become it after another. */
    private @Nullable InheritedLink inherited;

    private @Nullable Link abandoned;
    private volatile @Nullable PortOwner owner;
    private volatile @Nullable PortMember member;
    private int receives;

    SharedPort(Engine engine, InetAddress address, Path socket) {
        super(address);
        this.engine = engine;
        this.socket = socket;
        siblings = new AddressSiblings(high(), low());
        crashDisconnects = new CrashDisconnectPublisher(engine);
    }

    /** Whether this process has UDP port 4791 of the address. */
    public boolean isOwner() {
        return owner != null;
    }

    /** Whether packets for this process arrive: it is the owner, or the owner knows it. */
    public boolean isConnected() {
        PortMember current = member;
        return owner != null || current != null && current.isWelcome();
    }

    /** The link of UDP port 4791 if this process has it, without what is around it. Any thread. */
    @Nullable
    Link owned() {
        return owned;
    }

    @Override
    Link link() {
        Link current = link;
        if (current == null) {
            throw new IllegalStateException("port " + address() + " is not open");
        }
        return current;
    }

    // ---- opening, and following an owner that has gone ----

    /**
     * Tries to become the owner, else to join the one there is.
     *
     * @return null if the port is open, else why it is not: it may succeed when tried again
     * @throws IOException if it will not succeed
     */
    @Nullable
    String tryOpen() throws IOException {
        String taken = tryOwn(false);
        return taken == null ? null : tryJoin(taken);
    }

    private @Nullable String tryOwn(boolean follows) throws IOException {
        Link udp;
        try {
            udp = engine.links().openUdp(address(), Frame.UDP_PORT);
        } catch (BindException e) {
            return String.valueOf(e.getMessage());
        }
        try {
            boolean mayHaveMembers = follows || Files.exists(socket);
            LinkSet.LocalListener listener = engine.links().listenLocal(socket);
            engine.sharing().socketFiles().removeAtExit(socket);
            link = engine.decorate(ownerLink(udp));
            long graceEnds = mayHaveMembers ? engine.nowNanos() + PortOwner.GRACE_NANOS : Long.MIN_VALUE;
            crashDisconnects.keeper(null); // until another process comes
            owner = new PortOwner(engine, this, listener, graceEnds);
            owned = udp;
            signal.raise();
            return null;
        } catch (IOException e) {
            udp.close();
            throw e;
        }
    }

    private Link ownerLink(Link udp) {
        Link before = sender;
        if (before != null) {
            InheritedLink made = new InheritedLink(udp, before, siblings);
            inherited = made;
            return made;
        }
        sender = udp;
        return new SiblingLink(udp, siblings);
    }

    private @Nullable String tryJoin(String taken) throws IOException {
        LocalChannel channel;
        try {
            channel = engine.links().connectLocal(socket);
        } catch (IOException e) {
            return taken + "; " + e.getMessage();
        }
        Link own = sender;
        if (own == null) {
            try {
                own = engine.links().openUdp(address(), 0);
            } catch (IOException e) {
                channel.close();
                throw e;
            }
            sender = own;
        }
        PortMember joined = new PortMember(this, channel, own, engine.slot());
        for (long service : services) {
            joined.listen(service);
        }
        crashDisconnects.keeper(channel);
        link = engine.decorate(joined);
        member = joined;
        return null;
    }

    /**
     * The owner has gone, or throws this process out. Frames still leave through the old link until there is another: it
     * is closed then.
     */
    private void onOwnerGone() {
        member = null;
        abandoned = link;
        retryNanos = FIRST_RETRY_NANOS;
        follow();
    }

    private void follow() {
        String refusal;
        try {
            refusal = tryOwn(true);
            if (refusal != null) {
                refusal = tryJoin(refusal);
            }
        } catch (IOException e) {
            refusal = String.valueOf(e.getMessage());
        }
        if (refusal == null) {
            closeAbandoned();
        } else {
            engine.schedule(retry, engine.nowNanos() + retryNanos);
            retryNanos = Math.min(2 * retryNanos, LONGEST_RETRY_NANOS);
        }
    }

    private void closeAbandoned() {
        Link old = abandoned;
        abandoned = null;
        if (old != null) {
            try {
                old.close();
            } catch (IOException e) {
                // Nothing is buffered in it.
                return;
            }
        }
    }

    private final class Retry extends DeadlineTask {
        @Override
        protected void onDeadline(long nowNanos) {
            if (owner == null && member == null) {
                follow();
            }
        }
    }

    // ---- input ----

    @Override
    int receive(long nowNanos, boolean all) {
        int taken = 0;
        PortOwner asOwner = owner;
        PortMember asMember = member;
        if (asOwner != null) {
            taken = link().poll(burst);
            for (int i = 0; i < taken; i++) {
                engine.receiver().onFrame(nowNanos, this, burst.frame(i));
            }
            if (all || (++receives & RARELY_MASK) == 0) {
                taken += asOwner.receive();
            }
        } else if (asMember != null) {
            asMember.look(nowNanos, all);
            taken = link().poll(burst);
            for (int i = 0; i < taken; i++) {
                engine.receiver().onRelayedFrame(nowNanos, this, burst.frame(i));
            }
            if (taken == 0 && asMember.hasEnded()) {
                onOwnerGone();
                onProcessGone(asMember.ownerSlot());
                onLastWills(asMember.crashDisconnects());
            }
        }
        return taken;
    }

    /**
     * What has come to the UDP port that this process sends from, if {@link #receive} looks there seldom, for an owner that was
     * not the first, or not at all, while there is no owner.
     */
    @Override
    int receiveStray(long nowNanos) {
        InheritedLink asHeir = inherited;
        if (asHeir != null) {
            asHeir.lookAtSender();
            return receive(nowNanos, false);
        }
        Link own = sender;
        return owner == null && member == null && own != null ? receiveDirect(nowNanos, own) : 0;
    }

    private int receiveDirect(long nowNanos, Link own) {
        int taken = new DirectFrames(own, siblings).take(burst);
        for (int i = 0; i < taken; i++) {
            engine.receiver().onRelayedFrame(nowNanos, this, burst.frame(i));
        }
        return taken;
    }

    @Override
    long nextDeadlineNanos() {
        Link current = link;
        return current == null ? Long.MAX_VALUE : current.nextDeadlineNanos();
    }

    /** A process that shared this address has ended. */
    void onProcessGone(int slot) {
        engine.receiver().onProcessGone(this, slot);
    }

    /** What such a process has left is ended in its name. */
    void onLastWills(List<CrashDisconnect> left) {
        engine.receiver().onLastWills(this, left);
    }

    /** A connection with another address that shall not outlive this process, whatever its end. */
    public void addWill(CrashDisconnect crashDisconnect) {
        crashDisconnects.add(crashDisconnect);
    }

    /** The connection of a communication ID is over. */
    public void removeWill(int localId) {
        crashDisconnects.remove(localId);
    }

    /** Another process learns now what has changed: this one ends. */
    public void tellWills() {
        crashDisconnects.tell();
    }

    /** Tells this process' wills to another from now on, or to none. */
    void willKeeper(@Nullable LocalChannel keeper) {
        crashDisconnects.keeper(keeper);
    }

    /** Passes a frame on to the process that has a slot; false if none has. */
    boolean relay(int slot, Frame frame) {
        PortOwner asOwner = owner;
        return asOwner != null && asOwner.relay(slot, frame);
    }

    /** Decides whether a management datagram is for this process, and passes it on if it is for another. */
    boolean routeGsi(Packet packet) {
        PortOwner asOwner = owner;
        return asOwner == null || asOwner.routeGsi(packet);
    }

    // ---- services ----

    /**
     * Lets requests for a service ID come to this process; returns when they do. Any thread, without the engine lock.
     *
     * @throws RdmaException {@code ETIMEDOUT} if the process that owns the port does not answer
     */
    public void listen(long serviceId) {
        engine.lock();
        try {
            services.add(serviceId);
            PortMember current = member;
            if (current != null) {
                current.listen(serviceId);
            }
        } finally {
            engine.unlock();
        }
        long deadline = engine.clock().nanoTime() + REGISTRATION_NANOS;
        if (!engine.await(signal, () -> isKnown(serviceId), deadline) && !isKnown(serviceId)) {
            close(serviceId);
            throw silentOwner("rdma_listen");
        }
    }

    private boolean isKnown(long serviceId) {
        PortMember current = member;
        return owner != null || current != null && current.isKnown(serviceId);
    }

    /** Takes a service ID back. Any thread. */
    public void close(long serviceId) {
        engine.lock();
        try {
            PortMember current = member;
            if (services.remove(serviceId) && current != null) {
                current.close(serviceId);
            }
        } finally {
            engine.unlock();
        }
    }

    /** Whether this process listens on a service ID. */
    boolean listens(long serviceId) {
        return services.contains(serviceId);
    }

    @Override
    void awaitConnected(long deadlineNanos) {
        if (!engine.await(signal, this::isConnected, deadlineNanos) && !isConnected()) {
            throw silentOwner("ibv_modify_qp");
        }
    }

    /** How the other processes of the address are reached without the owner. Any thread. */
    AddressSiblings siblings() {
        return siblings;
    }

    Signal signal() {
        return signal;
    }

    private RdmaException silentOwner(String operation) {
        return new RdmaException(
                operation,
                Errno.ETIMEDOUT,
                "the process that owns UDP port 4791 of " + GidAddresses.text(address()) + " does not answer",
                "It may be stopped, by a debugger or SIGSTOP: let it go on or end it, and try again");
    }

    @Override
    public String toString() {
        return super.toString() + (owner != null ? " (owner)" : "");
    }
}

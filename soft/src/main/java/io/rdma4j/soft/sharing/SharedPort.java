package io.rdma4j.soft.sharing;

import io.rdma4j.link.Link;
import io.rdma4j.link.LinkSet;
import io.rdma4j.link.LocalChannel;
import io.rdma4j.link.ReceiveBurst;
import io.rdma4j.soft.engine.DeadlineTask;
import io.rdma4j.soft.engine.Engine;
import io.rdma4j.soft.engine.Port;
import io.rdma4j.soft.engine.Receiver;
import io.rdma4j.soft.events.FlightEvents;
import io.rdma4j.soft.events.PortOwnershipEvent;
import io.rdma4j.transport.cm.AbandonedConnection;
import io.rdma4j.transport.cm.CmRoute;
import io.rdma4j.verbs.RdmaException;
import io.rdma4j.verbs.wait.Signal;
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
 * The main engine's port of an address.
 *
 * <p>One process of the host, the owner, has bound UDP port 4791 of the address. It relays packets to the other
 * processes, which send from a UDP port of their own. When the owner exits, the others compete to bind the port. When it
 * gives no sign of life, as while it is stopped, one of them takes the port over; the former owner becomes a member when
 * it continues.
 *
 * <p>All methods are called under the engine lock unless stated otherwise.
 */
public final class SharedPort extends Port {
    private static final int BURST_FRAMES = 128;
    private static final int RARELY_MASK = 31;

    /** Selects one poll in 1024, since a poll of rings is no system call. */
    private static final int SELDOM_MASK = 1023;

    private static final long FIRST_RETRY_NANOS = 2_000_000;
    private static final long LONGEST_RETRY_NANOS = 200_000_000;

    /** The time for which a listener waits for its registration with the owner. */
    private static final long REGISTRATION_NANOS = 5_000_000_000L;

    /**
     * The time after which a port that is held by a process of this run directory that nobody can join is taken over. A
     * new owner needs a moment between bind and listen.
     */
    static final long OWNERLESS_NANOS = 1_000_000_000;

    private final Engine engine;
    private final Sharing sharing;
    private final Path socket;
    private final ReceiveBurst burst = new ReceiveBurst(BURST_FRAMES);
    private final ReceiveBurst lastFrames = new ReceiveBurst(BURST_FRAMES);
    private final Set<Long> services = new LinkedHashSet<>();
    private final AddressSiblings siblings;
    private final Signal signal = new Signal();
    private final DeadlineTask retry = new Retry();
    private final OwnerWatch watch;

    private final OwnerReplacement replacement;
    private final JoinRefusals refusals;
    private final FormerOwners formerOwners = new FormerOwners(this);
    private final ClosingChannels closing = new ClosingChannels();

    /** The time since when this process has no owner. */
    private long ownerlessSinceNanos;

    private long retryNanos = FIRST_RETRY_NANOS;
    private @Nullable Link link;

    /** The undecorated link of UDP port 4791; null if this process is not the owner. */
    private volatile @Nullable Link owned;

    /**
     * The UDP port that frames are sent from. The first one is used for the lifetime of the process, whoever owns UDP
     * port 4791: peers bind a queue pair to the source port that they know.
     */
    private @Nullable Link sender;

    /** The link of a process that became the owner after another one. */
    private @Nullable InheritedLink inherited;

    private @Nullable Link abandoned;
    private final PortRings rings;
    private @Nullable RingLink ringLink;
    private volatile @Nullable PortOwner owner;
    private volatile @Nullable PortMember member;
    private int receives;

    SharedPort(Engine engine, Sharing sharing, InetAddress address, Path socket) {
        super(address);
        this.engine = engine;
        this.sharing = sharing;
        this.socket = socket;
        siblings = new AddressSiblings(high(), low());
        watch = new OwnerWatch(engine, this);
        refusals = new JoinRefusals(address);
        replacement = new OwnerReplacement(engine, sharing, address, socket);
        boolean mayShareMemory = engine.engines().decorator().allowsSharedMemory()
                && !sharing.directory().isOfVirtualHost();
        rings = new PortRings(engine, this, sharing.directory(), mayShareMemory);
    }

    /** Returns whether packets for this process arrive: it is the owner, or is registered with the owner. */
    public boolean isConnected() {
        PortMember current = member;
        return owner != null || current != null && current.isWelcome();
    }

    /** Returns the undecorated link of UDP port 4791 if this process is the owner, else null. Any thread. */
    @Nullable
    Link owned() {
        return owned;
    }

    @Override
    public Link link() {
        Link current = link;
        if (current == null) {
            throw new IllegalStateException("port " + address() + " is not open");
        }
        return current;
    }

    // ---- opening, and replacing an owner that has exited ----

    /**
     * Tries to become the owner, else to join the current one.
     *
     * @param takesOver true to take the port over if a process holds it that cannot be joined
     * @return null if the port is open, else the reason why it is not: a further try may succeed
     * @throws IOException if further tries will not succeed
     */
    @Nullable
    String tryOpen(boolean takesOver) throws IOException {
        String refusal = tryOwnOrJoin(false);
        if (refusal != null && takesOver) {
            refusal = replacement.tryTakeUnserved(refusal, this::ownTaken);
        }
        if (refusal == null) {
            rings.listen(sharing.socketFiles());
        }
        return refusal;
    }

    private @Nullable String tryOwnOrJoin(boolean follows) throws IOException {
        String refusal = tryOwn(follows);
        return refusal == null ? null : tryJoin(refusal);
    }

    /** Returns the link that adds shared memory to {@code udp}, with the capture, trace and faults of this process. */
    private Link decorated(Link udp) {
        RingLink created = new RingLink(udp, rings, engine.engines().decorator().decorates());
        ringLink = created;
        return engine.decorate(created);
    }

    private @Nullable String tryOwn(boolean follows) throws IOException {
        Link udp;
        try {
            udp = engine.links().openUdp(address(), Frame.UDP_PORT);
        } catch (BindException e) {
            return String.valueOf(e.getMessage());
        }
        own(udp, follows || Files.exists(socket));
        return null;
    }

    /** Becomes the owner, with a link of UDP port 4791. */
    private void own(Link udp, boolean mayHaveMembers) throws IOException {
        try {
            LinkSet.LocalListener listener = engine.links().listenLocal(socket);
            sharing.socketFiles().removeAtExit(socket);
            sharing.takeovers().hold(address());
            replacement.noteOwner(FileIdentity.of(socket));
            siblings.put(engine.slot(), 0);
            link = decorated(ownerLink(udp));
            long graceEnds = mayHaveMembers ? engine.nowNanos() + PortOwner.GRACE_NANOS : Long.MIN_VALUE;
            owner = new PortOwner(engine, this, listener, graceEnds);
            owned = udp;
            refusals.onJoined();
            report(PortOwnershipEvent.OWNER);
            signal.raise();
        } catch (IOException e) {
            udp.close();
            throw e;
        }
    }

    /**
     * Replaces an owner that gives no sign of life: joins the process that has taken over, or takes over. Its channel stays open, to
     * learn when its process exits.
     */
    void replaceSilentOwner() {
        PortMember silent = member;
        if (silent == null) {
            return;
        }
        try {
            boolean isReplaced = replacement.isReplaced();
            String refusal = isReplaced ? tryJoin("the owner is stopped") : replacement.tryTake(this::ownTaken);
            if (refusal == null) {
                if (!isReplaced) {
                    member = null;
                }
                silent.leave();
                formerOwners.add(silent);
            }
        } catch (IOException e) {
            return; // the next try may succeed
        }
    }

    /** Returns whether this owner was replaced, and becomes a member then. Looks for it now and then. */
    private boolean resignsIfReplaced(PortOwner asOwner, long nowNanos) {
        if (!replacement.isDue(nowNanos) || !replacement.isReplaced()) {
            return false;
        }
        Link udp = owned;
        if (udp != null) {
            udp.abandonInput();
        }
        // The link of the first owner is what this process sends from, as before.
        abandoned = inherited == null ? null : link;
        closeAbandoned(); // before the new owner hears of this process: the numbers of the sockets change
        inherited = null;
        owned = null;
        owner = null;
        asOwner.resign(closing);
        onOwnerless();
        return true;
    }

    /** Becomes the owner by a link of a port that was taken over. */
    private void ownTaken(Link udp) throws IOException {
        own(udp, true);
        watch.start();
    }

    /** Keeps the input of a port that was taken over; under the engine lock. */
    void claimInput() {
        Link udp = owned;
        if (udp != null) {
            udp.claimInput();
        }
    }

    /** Does what an owner that has replaced another one must do now and then. */
    void keepTaken() {
        claimInput();
        PortOwner asOwner = owner;
        if (asOwner != null) {
            asOwner.reportLost();
        }
    }

    /** Returns how this process learns that an owner was replaced. */
    OwnerReplacement replacement() {
        return replacement;
    }

    /** Returns whether a service that no member has registered may be one of an owner that was replaced and is stopped. */
    boolean mayHaveUnknownServices() {
        return !formerOwners.isEmpty();
    }

    /** Expects a replaced owner that has continued, and the owners that it had replaced, to join. */
    void onFormerOwnerResigned() {
        PortOwner asOwner = owner;
        if (asOwner != null) {
            asOwner.beginGrace();
        }
    }

    /** Returns the process' part in an owner's service; null if it is the owner, or has none. */
    @Nullable
    PortMember member() {
        return member;
    }

    /** Returns whether this process is the owner. */
    boolean isOwner() {
        return owner != null;
    }

    /** Returns whether another process has a slot, though it may not be registered here. */
    boolean isSlotInUse(int slot) {
        return sharing.isSlotInUse(slot);
    }

    private void report(String role) {
        if (FlightEvents.isOn()) {
            PortOwnershipEvent event = new PortOwnershipEvent();
            event.address = FlightEvents.address(address());
            event.role = role;
            event.slot = engine.slot();
            event.commit();
        }
    }

    private Link ownerLink(Link udp) {
        Link previousSender = sender;
        if (previousSender != null) {
            InheritedLink newLink = new InheritedLink(udp, previousSender, siblings);
            inherited = newLink;
            return newLink;
        }
        sender = udp;
        return new SiblingLink(udp, siblings);
    }

    private @Nullable String tryJoin(String refusal) throws IOException {
        LocalChannel channel;
        FileIdentity file = FileIdentity.of(socket);
        replacement.noteTried(file);
        try {
            channel = engine.links().connectLocal(socket);
        } catch (IOException e) {
            return refusal + "; " + e.getMessage();
        }
        Link udp = sender;
        if (udp == null) {
            try {
                udp = engine.links().openUdp(address(), 0);
            } catch (IOException e) {
                channel.close();
                throw e;
            }
            sender = udp;
        }
        PortMember joined = new PortMember(this, channel, udp, engine.slot());
        for (long service : services) {
            joined.registerService(service);
        }
        link = decorated(joined);
        member = joined;
        replacement.noteOwner(file);
        watch.start();
        report(PortOwnershipEvent.MEMBER);
        return null;
    }

    /**
     * Replaces the owner, which has exited or expelled this process. Frames are sent through the old link until there
     * is another one; then the old link is closed.
     */
    private void onOwnerExited(PortMember ended) {
        refusals.onEnded(ended);
        member = null;
        abandoned = link;
        onOwnerless();
    }

    private void onOwnerless() {
        report(PortOwnershipEvent.NONE);
        ownerlessSinceNanos = engine.nowNanos();
        if (refusals.isRefused()) {
            signal.raise(); // the operations that wait may give up
            retryLater();
        } else {
            retryNanos = FIRST_RETRY_NANOS;
            replaceOwner();
        }
    }

    private void replaceOwner() {
        String refusal;
        try {
            refusal = tryOwnOrJoin(true);
            if (refusal != null && mayTakeOver()) { // after the attempt to join, which takes time
                refusal = replacement.tryTakeUnserved(refusal, this::ownTaken);
            }
        } catch (IOException e) {
            refusal = String.valueOf(e.getMessage());
        }
        if (refusal == null) {
            closeAbandoned();
        } else {
            retryLater();
        }
    }

    private void retryLater() {
        engine.schedule(retry, engine.nowNanos() + retryNanos);
        retryNanos = Math.min(2 * retryNanos, LONGEST_RETRY_NANOS);
    }

    /** Returns whether a port in use may be taken over: there was time to join its owner, or this process holds it itself. */
    private boolean mayTakeOver() {
        Link udp = sender;
        return engine.nowNanos() - ownerlessSinceNanos >= OWNERLESS_NANOS
                || udp != null && udp.localAddress().getPort() == Frame.UDP_PORT;
    }

    private void closeAbandoned() {
        Link old = abandoned;
        abandoned = null;
        if (old != null) {
            try {
                old.close();
            } catch (IOException e) {
                // It buffers nothing.
                return;
            }
        }
    }

    private final class Retry extends DeadlineTask {
        @Override
        protected void onDeadline(long nowNanos) {
            if (owner == null && member == null) {
                replaceOwner();
            }
        }
    }

    // ---- input ----

    @Override
    protected int receive(long nowNanos, boolean all) {
        int received = 0;
        PortOwner asOwner = owner;
        PortMember asMember = member;
        RingLink withRings = ringLink;
        rings.check(nowNanos, all);
        if (withRings != null) {
            withRings.preparePoll(nowNanos, all);
        }
        if (!formerOwners.isEmpty() && (all || (nowNanos & RARELY_MASK) == 0)) {
            received = formerOwners.receive();
        }
        if (!closing.isEmpty() && (all || (nowNanos & RARELY_MASK) == 0)) {
            closing.send();
        }
        if (asOwner != null && resignsIfReplaced(asOwner, nowNanos)) {
            return received + 1;
        }
        if (asOwner != null) {
            received += link().poll(burst);
            for (int i = 0; i < burst.count(); i++) {
                engine.receiver().onFrame(nowNanos, this, Receiver.inOrder(burst, i));
            }
            if (all || (++receives & (rings.isBusy(nowNanos) ? SELDOM_MASK : RARELY_MASK)) == 0) {
                received += asOwner.receive();
            }
        } else if (asMember != null) {
            asMember.preparePoll(nowNanos, all);
            int own = receiveOwn(nowNanos, link().poll(burst));
            received += own;
            if (own == 0 && asMember.hasEnded()) {
                onOwnerExited(asMember);
            }
            if (own == 0 && asMember.hasEnded() && !asMember.isResigned()) {
                onProcessExited(asMember.ownerSlot());
                onCrashDisconnects(asMember.crashDisconnects());
            }
        } else {
            burst.clear();
            received += receiveOwn(nowNanos, rings.poll(nowNanos, burst));
        }
        return received;
    }

    /**
     * Receives from the UDP port that this process sends from. That is rarely polled by {@link #receive} for an owner that was not
     * the first one, and not at all while there is no owner.
     */
    @Override
    protected int receiveStray(long nowNanos) {
        InheritedLink inheritedLink = inherited;
        if (inheritedLink != null) {
            inheritedLink.pollSenderNext();
            return receive(nowNanos, false);
        }
        Link udp = sender;
        return owner == null && member == null && udp != null
                ? receiveOwn(nowNanos, new DirectFrames(udp, siblings).poll(burst))
                : 0;
    }

    /** Processes the received frames, all of which are for this process; returns their number. */
    private int receiveOwn(long nowNanos, int received) {
        for (int i = 0; i < received; i++) {
            engine.receiver().onRelayedFrame(nowNanos, this, Receiver.inOrder(burst, i));
        }
        return received;
    }

    @Override
    protected long nextDeadlineNanos() {
        Link current = link;
        return current == null ? Long.MAX_VALUE : current.nextDeadlineNanos();
    }

    /** Makes the next polls of the link receive also from UDP, which they seldom do while rings are busy. */
    void pollEverythingNext() {
        RingLink withRings = ringLink;
        if (withRings != null) {
            withRings.preparePoll(engine.nowNanos(), true);
        }
    }

    /** Reports the exit of a process that shared this address. */
    void onProcessExited(int slot) {
        ProcessExitHandler handler = sharing.exitHandler();
        if (handler != null && slot != 0) {
            // Frames that it sent through memory, or to queue pairs of other engines, are delivered before the report,
            // too.
            rings.receivePending(lastFrames);
            engine.engines().receivePendingOfOthers();
            handler.onProcessExited(this, slot);
        }
    }

    /** Opens the connections of a process of this address, for its exit. */
    CrashDisconnectReader crashDisconnectsOf(int slot) {
        return CrashDisconnectReader.open(sharing.directory(), slot);
    }

    /** Disconnects the connections at this address of a process that has exited on its behalf. */
    void onCrashDisconnects(@Nullable CrashDisconnectReader left) {
        ProcessExitHandler handler = sharing.exitHandler();
        if (handler != null && left != null) {
            List<AbandonedConnection> taken = left.take(this::isLocal);
            if (!taken.isEmpty()) {
                handler.onCrashDisconnects(this, taken);
            }
        }
    }

    private boolean isLocal(AbandonedConnection connection) {
        CmRoute route = connection.route();
        return route.local().high() == high()
                && route.local().low() == low()
                && CmRoute.isSameLink(route.scope(), scope());
    }

    @Override
    protected boolean relay(int slot, Frame frame) {
        PortOwner asOwner = owner;
        return asOwner != null && asOwner.relay(slot, frame);
    }

    @Override
    public boolean routeGsi(Packet packet) {
        PortOwner asOwner = owner;
        return asOwner == null || asOwner.routeGsi(packet);
    }

    // ---- services ----

    /**
     * Receives requests for a service ID from now on, and returns when the registration is complete. Any thread,
     * without the engine lock.
     *
     * @throws RdmaException {@code ETIMEDOUT} if the process that owns the port does not answer; {@code EADDRINUSE} if it has another
     *     version of the messages between processes; {@code EAGAIN} if it has no descriptor for this process
     */
    public void registerService(long serviceId) {
        engine.lock();
        try {
            services.add(serviceId);
            PortMember current = member;
            if (current != null) {
                current.registerService(serviceId);
            }
        } finally {
            engine.unlock();
        }
        long deadline = engine.clock().nanoTime() + REGISTRATION_NANOS;
        boolean _ = engine.await(signal, () -> isRegistered(serviceId) || refusals.isFinal(), deadline);
        if (!isRegistered(serviceId)) {
            unregisterService(serviceId);
            throw refusals.failure("rdma_listen");
        }
    }

    private boolean isRegistered(long serviceId) {
        PortMember current = member;
        return owner != null || current != null && current.isRegistered(serviceId);
    }

    /** Stops receiving requests for a service ID. Any thread. */
    public void unregisterService(long serviceId) {
        engine.lock();
        try {
            PortMember current = member;
            if (services.remove(serviceId) && current != null) {
                current.unregisterService(serviceId);
            }
        } finally {
            engine.unlock();
        }
    }

    /** Returns whether this process listens on a service ID. */
    boolean serves(long serviceId) {
        return services.contains(serviceId);
    }

    @Override
    public void awaitConnected(long deadlineNanos) {
        boolean _ = engine.await(signal, () -> isConnected() || refusals.isFinal(), deadlineNanos);
        if (!isConnected()) {
            throw refusals.failure("ibv_modify_qp");
        }
    }

    /** Returns the UDP ports of the other processes of the address. Any thread. */
    AddressSiblings siblings() {
        return siblings;
    }

    /** Called when the owner relays packets to this process. */
    void onWelcome() {
        refusals.onJoined();
        signal.raise();
    }

    Signal signal() {
        return signal;
    }

    @Override
    public String toString() {
        return super.toString() + (owner != null ? " (owner)" : "");
    }
}

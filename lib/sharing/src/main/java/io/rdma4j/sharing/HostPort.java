package io.rdma4j.sharing;

import io.rdma4j.link.Link;
import io.rdma4j.link.LinkSet;
import io.rdma4j.link.LocalChannel;
import io.rdma4j.link.ReceiveBurst;
import io.rdma4j.sharing.PortRole.Member;
import io.rdma4j.sharing.PortRole.Owner;
import io.rdma4j.sharing.PortRole.Ownerless;
import io.rdma4j.wire.Frame;
import io.rdma4j.wire.Packet;
import io.rdma4j.wire.cm.AbandonedConnection;
import io.rdma4j.wire.cm.CmRoute;
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
 * The main engine's port of an address, which the processes of the host share (decision 008).
 *
 * <p>One process of the host, the owner, has bound UDP port 4791 of the address. It relays packets to the other processes, the
 * members, which send from their own UDP ports. When the owner exits, the others compete to bind the port. If it does not answer,
 * for example while it is stopped, one of them takes the port over; the former owner becomes a member when it continues. {@link
 * PortRole} is the current role of this process.
 *
 * <p>No method waits. All are called under the engine lock unless stated otherwise.
 */
public final class HostPort extends Port {
    private static final int BURST_FRAMES = 128;
    private static final int RARELY_MASK = 31;
    private static final long FIRST_RETRY_NANOS = 2_000_000;
    private static final long LONGEST_RETRY_NANOS = 200_000_000;

    /**
     * The time after which a port is taken over if a process of this run directory holds it, but cannot be joined. A new owner
     * needs some time between bind and listen.
     */
    public static final long TAKEOVER_NANOS = 1_000_000_000;

    private final PortEngine engine;
    private final FrameReceiver receiver;
    private final Sharing sharing;
    private final Path socket;
    private final ReceiveBurst burst = new ReceiveBurst(BURST_FRAMES);
    private final ReceiveBurst lastFrames = new ReceiveBurst(BURST_FRAMES);
    private final Set<Long> services = new LinkedHashSet<>();
    private final AddressSiblings siblings;
    private final PortEngine.Timer retry;
    private final OwnerWatch watch;
    private final OwnerReplacement replacement;
    private final JoinRefusals refusals;
    private final FormerOwners formerOwners = new FormerOwners(this);
    private final ClosingChannels closing = new ClosingChannels();
    private final PortRings rings;

    /** Changed under the engine lock, by {@link #become} alone. */
    private volatile PortRole role;

    private long retryNanos = FIRST_RETRY_NANOS;

    /** Creates the port of an address, which is not open yet. */
    public HostPort(PortEngine engine, Sharing sharing, InetAddress address) {
        super(address);
        this.engine = engine;
        receiver = engine.receiver();
        this.sharing = sharing;
        socket = sharing.socket(address);
        role = new PortRole.NotOpen(address);
        retry = engine.timer(this::onRetry);
        siblings = new AddressSiblings(high(), low());
        watch = new OwnerWatch(engine, this);
        refusals = new JoinRefusals();
        replacement = new OwnerReplacement(engine, sharing, address, socket);
        boolean mayShareMemory =
                engine.decorator().allowsSharedMemory() && !sharing.directory().isOfVirtualHost();
        rings = new PortRings(engine, this, sharing, mayShareMemory);
    }

    /** Returns whether packets for this process arrive: it is the owner, or is registered with the owner. Any thread. */
    public boolean isConnected() {
        return role.isConnected();
    }

    /** Returns the undecorated link of UDP port 4791 if this process is the owner, otherwise null. Any thread. */
    public @Nullable Link owned() {
        return role instanceof Owner owner ? owner.bound() : null;
    }

    /** Returns the current role of this process. */
    PortRole role() {
        return role;
    }

    /** Returns the name of the current role: {@code owner}, {@code member}, or {@code none} without an owner. Any thread. */
    public String roleName() {
        return role.name();
    }

    /** Returns the engine that drives the port. */
    PortEngine engine() {
        return engine;
    }

    /** Returns the slot of this process. Any thread. */
    public int slot() {
        return sharing.slot();
    }

    /** Returns a link that sends through another UDP port of this address, directly to the other processes of the address. */
    public Link sendingDirectly(Link udp) {
        return new SiblingLink(udp, siblings);
    }

    @Override
    public Link link() {
        return role.link();
    }

    // ---- the transitions between roles ----

    /**
     * Tries to become the owner, otherwise to join the current one. A process that has joined is not {@linkplain #isConnected
     * connected} before the owner has answered.
     *
     * @param takesOver true to take the port over if the process that holds it cannot be joined
     * @return null if the port is open, otherwise the reason why it is not: another attempt may succeed
     * @throws IOException if further attempts will not succeed
     */
    public @Nullable String tryOpen(boolean takesOver) throws IOException {
        String refusal = tryOwnOrJoin(false);
        if (refusal != null && takesOver) {
            refusal = replacement.tryTakeUnserved(refusal, this::ownTaken);
        }
        if (refusal == null) {
            rings.listen();
        }
        return refusal;
    }

    private @Nullable String tryOwnOrJoin(boolean follows) throws IOException {
        String refusal = tryOwn(follows);
        return refusal == null ? null : tryJoin(refusal);
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
            siblings.put(sharing.slot(), 0);
            long graceEnds = mayHaveMembers ? engine.nowNanos() + MemberTable.GRACE_NANOS : Long.MIN_VALUE;
            MemberTable members = new MemberTable(engine, this, listener, graceEnds);
            become(new Owner(engine, this, members, udp, role.sender()));
            refusals.onJoined();
            if (siblings.hasUnconfirmed()) {
                watch.start();
            }
            engine.onProgress();
        } catch (IOException e) {
            udp.close();
            throw e;
        }
    }

    /** Becomes the owner with a link of a port that was taken over. */
    private void ownTaken(Link udp) throws IOException {
        own(udp, true);
        watch.start();
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
        Link sender = role.sender();
        if (sender == null) {
            try {
                sender = engine.links().openUdp(address(), 0);
            } catch (IOException e) {
                channel.close();
                throw e;
            }
        }
        MemberLink owner = new MemberLink(this, channel, sender);
        for (long service : services) {
            owner.registerService(service);
        }
        become(new Member(engine, this, owner, sender));
        replacement.noteOwner(file);
        watch.start();
        return null;
    }

    /**
     * Replaces an owner that does not answer: joins the process that has taken over, or takes over. The channel of the owner stays
     * open, to learn when its process exits.
     */
    void replaceSilentOwner(Member silent) {
        try {
            String refusal =
                    replacement.isReplaced() ? tryJoin("the owner is stopped") : replacement.tryTake(this::ownTaken);
            if (refusal == null) {
                silent.owner().leave();
                formerOwners.add(silent.owner());
            }
        } catch (IOException e) {
            return; // the next attempt may succeed
        }
    }

    /** Becomes a member if this owner was replaced, and returns whether it was. Checks this only occasionally. */
    boolean resignsIfReplaced(Owner owner, long nowNanos) {
        if (!replacement.isDue(nowNanos) || !replacement.isReplaced()) {
            return false;
        }
        // Its sockets are closed before this process joins the new owner, since that changes the numbers of the
        // sockets.
        Ownerless next = owner.resigned(engine.nowNanos());
        owner.members().resign(closing);
        onOwnerless(next);
        return true;
    }

    /** Replaces the owner, which has exited, resigned or expelled this process. An exit is reported afterwards. */
    void onOwnerEnded(Member member) {
        MemberLink owner = member.owner();
        refusals.onEnded(owner);
        onOwnerless(member.abandoned(engine.nowNanos()));
        if (!owner.isResigned()) {
            onProcessExited(owner.ownerSlot());
            onCrashDisconnects(owner.crashDisconnects());
        }
    }

    private void onOwnerless(Ownerless next) {
        become(next);
        if (refusals.isRefused()) {
            engine.onProgress(); // waiting operations may now fail
            retryLater();
        } else {
            retryNanos = FIRST_RETRY_NANOS;
            replaceOwner(next);
        }
    }

    private void replaceOwner(Ownerless current) {
        String refusal;
        try {
            refusal = tryOwnOrJoin(true);
            if (refusal != null
                    && current.mayTakeOver(engine.nowNanos())) { // after the attempt to join, which takes time
                refusal = replacement.tryTakeUnserved(refusal, this::ownTaken);
            }
        } catch (IOException e) {
            refusal = String.valueOf(e.getMessage());
        }
        if (refusal == null) {
            current.end();
        } else {
            retryLater();
        }
    }

    private void retryLater() {
        retry.set(engine.nowNanos() + retryNanos);
        retryNanos = Math.min(2 * retryNanos, LONGEST_RETRY_NANOS);
    }

    private void onRetry(long nowNanos) {
        if (role instanceof Ownerless current) {
            replaceOwner(current);
        }
    }

    /** The only place where the role changes. */
    private void become(PortRole next) {
        role = next;
        engine.onRole(this);
    }

    // ---- for the roles and their parts ----

    /** Returns the counters of the packets between processes. */
    SharingCounters counters() {
        return sharing.counters();
    }

    /** Returns a link that adds shared memory to {@code udp}. */
    RingLink withRings(Link udp) {
        return new RingLink(udp, rings, engine.decorator().decorates());
    }

    /** Returns the burst to receive with. */
    ReceiveBurst burst() {
        return burst;
    }

    /** Returns whether frames arrive in rings, so that more are expected there. */
    boolean isMemoryBusy(long nowNanos) {
        return rings.isBusy(nowNanos);
    }

    /** Keeps the input of a port that was taken over. */
    void claimInput() {
        if (role instanceof Owner owner) {
            owner.bound().claimInput();
        }
    }

    /** Returns the object that detects that an owner was replaced. */
    OwnerReplacement replacement() {
        return replacement;
    }

    /** Returns whether a service that no member has registered may belong to a replaced owner that is stopped. */
    boolean mayHaveUnknownServices() {
        return !formerOwners.isEmpty();
    }

    /** Expects a replaced owner that has continued, and the owners that it had replaced, to join. */
    void onFormerOwnerResigned() {
        if (role instanceof Owner owner) {
            owner.members().beginGrace();
        }
    }

    /** Returns whether another process has a slot, though it may not be registered here. */
    boolean isSlotInUse(int slot) {
        return sharing.isSlotInUse(slot);
    }

    // ---- input ----

    @Override
    public int receive(long nowNanos, boolean all) {
        int received = 0;
        PortRole current = role;
        rings.check(nowNanos, all);
        if (!formerOwners.isEmpty() && (all || (nowNanos & RARELY_MASK) == 0)) {
            received = formerOwners.receive();
        }
        if (!closing.isEmpty() && (all || (nowNanos & RARELY_MASK) == 0)) {
            closing.send();
        }
        return received + current.receive(nowNanos, all);
    }

    /**
     * Receives from the UDP port that this process sends from. {@link #receive} rarely polls it for an owner that was not the first
     * one, and not at all while there is no owner.
     */
    @Override
    public int receiveStray(long nowNanos) {
        return role.receiveStray(nowNanos);
    }

    /** Receives only from rings; returns the number of frames. */
    int receiveFromRings(long nowNanos) {
        burst.clear();
        return receiveOwn(nowNanos, rings.poll(nowNanos, burst));
    }

    /** Processes the frames of {@link #burst}, all of which are for this process; returns their number. */
    int receiveOwn(long nowNanos, int received) {
        if (received > 0) {
            receiver.onRelayedFrames(nowNanos, this, burst);
        }
        return received;
    }

    @Override
    public long nextDeadlineNanos() {
        return role.link().nextDeadlineNanos();
    }

    /** Makes the next polls of the link also receive from UDP, which they rarely do while rings are busy. */
    void pollEverythingNext() {
        role.pollEverythingNext(engine.nowNanos());
    }

    /** Reports the exit of a process that shared this address. */
    void onProcessExited(int slot) {
        ProcessExitHandler handler = sharing.exitHandler();
        if (handler != null && slot != 0) {
            // Frames that it sent through memory, or to queue pairs of other engines, are also delivered before the
            // report.
            rings.receivePending(lastFrames);
            engine.receivePendingOfOthers();
            handler.onProcessExited(this, slot);
        }
    }

    /** Opens the crash disconnects of a process of this address, for its exit. */
    CrashDisconnectReader crashDisconnectsOf(int slot) {
        return CrashDisconnectReader.open(sharing.directory(), slot);
    }

    /** Disconnects connections at this address on behalf of a process that has exited. */
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
    public boolean relay(int slot, Frame frame) {
        return role.relay(slot, frame);
    }

    @Override
    public boolean routeGsi(Packet packet) {
        return role.routeGsi(packet);
    }

    // ---- services ----

    /** Starts receiving requests for a service ID; {@link #isRegistered} returns true when the owner knows it. */
    public void registerService(long serviceId) {
        services.add(serviceId);
        role.registerService(serviceId);
    }

    /** Stops receiving requests for a service ID. */
    public void unregisterService(long serviceId) {
        if (services.remove(serviceId)) {
            role.unregisterService(serviceId);
        }
    }

    /** Returns whether requests for a service of this process arrive. Any thread. */
    public boolean isRegistered(long serviceId) {
        return role.isRegistered(serviceId);
    }

    /** Returns whether this process listens on a service ID. */
    public boolean serves(long serviceId) {
        return services.contains(serviceId);
    }

    /** Returns whether further attempts to join fail as long as the port has this owner. Any thread. */
    public boolean isRefused() {
        return refusals.isFinal();
    }

    /**
     * Returns why the owner refuses this process, or does not answer, for an operation that has waited without success.
     * The details continue a sentence that begins with the owner. Any thread.
     */
    public SharingException refusal() {
        return refusals.failure();
    }

    /** Returns the UDP ports of the other processes of the address. Any thread. */
    AddressSiblings siblings() {
        return siblings;
    }

    /** Called when the owner relays packets to this process. */
    void onWelcome() {
        refusals.onJoined();
        engine.onProgress();
    }

    /** Called when the owner has registered a service. */
    void onRegistered() {
        engine.onProgress();
    }

    @Override
    public String toString() {
        return super.toString() + (role instanceof Owner ? " (owner)" : "");
    }
}

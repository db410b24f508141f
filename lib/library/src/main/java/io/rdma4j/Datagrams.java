package io.rdma4j;

import io.rdma4j.cm.CmEvent;
import io.rdma4j.cm.CmId;
import io.rdma4j.cm.ConnectionManager;
import io.rdma4j.cm.ConnectionParameters;
import io.rdma4j.cm.EventChannel;
import io.rdma4j.cm.MulticastJoinAttributes;
import io.rdma4j.cm.MulticastJoinFlag;
import io.rdma4j.value.Gid;
import io.rdma4j.value.PortSpace;
import io.rdma4j.verbs.AddressHandle;
import io.rdma4j.verbs.AddressVector;
import io.rdma4j.verbs.ClosedException;
import io.rdma4j.verbs.QueuePair;
import io.rdma4j.verbs.QueuePairCapabilities;
import io.rdma4j.verbs.QueuePairInitAttributes;
import io.rdma4j.verbs.SendWorkRequest;
import io.rdma4j.verbs.wait.WaitDriver;
import java.lang.foreign.MemorySegment;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.locks.ReentrantLock;

/**
 * A socket of datagrams: messages of at most {@link #maxSendBytes} bytes to any number of peers and groups, which may be lost, and arrive
 * in any order. Peers find it by its address, and {@link #resolve} finds them. Thread safe.
 *
 * {@snippet :
 * try (Datagrams socket = Datagrams.bind(new InetSocketAddress("192.0.2.1", 7471))) {
 *     while (true) {
 *         try (Datagram question = socket.receive()) {
 *             socket.send(question.sender(), answer(question.memory()));
 *         }
 *     }
 * }
 * }
 *
 * <p>C: the port space {@code RDMA_PS_UDP} of librdmacm.
 */
public final class Datagrams implements AutoCloseable {
    private static final int BACKLOG = 128;
    private static final Duration DEFAULT_TIMEOUT = Duration.ofSeconds(30);

    /** The maximum number of destinations with a cached address handle. */
    private static final int MAX_HANDLES = 1024;

    private final ConnectionManager manager;
    private final DatagramEvents events;
    private final CmId id;
    private final QueuePair queuePair;
    private final InetSocketAddress address;
    private final int gidIndex;
    private final int maxSendBytes;
    private final CompletionWait sendWait;
    private final CompletionWait receiveWait;
    private final SendQueue sends;
    private final ReceiveQueue<Datagram> receives;
    private final Buffers buffers;
    private final Set<Membership> memberships = ConcurrentHashMap.newKeySet();
    private final AtomicBoolean isClosing = new AtomicBoolean();

    /** Guards {@link #request} and {@link #handles}. */
    private final ReentrantLock sendLock = new ReentrantLock();

    private final SendWorkRequest[] request = {new SendWorkRequest()};
    private final Map<AddressVector, AddressHandle> handles = new HashMap<>();

    /** Creates the queue pair of an identifier that is bound. */
    private Datagrams(ConnectionManager manager, EventChannel channel, CmId id, DatagramOptions options) {
        this.manager = manager;
        this.id = id;
        address = Objects.requireNonNull(id.localAddress(), "the socket is not bound");
        queuePair = id.createQueuePair(QueuePairInitAttributes.of(
                QueuePairCapabilities.defaults().withSends(options.sends()).withReceives(options.receives())));
        events = new DatagramEvents(channel, id, queuePair);
        gidIndex = id.verbs().gidIndex(port(), Gid.of(address.getAddress()));
        maxSendBytes = id.verbs().port(port()).activeMtu().bytes();
        sendWait = new CompletionWait(
                queuePair.sendCompletions(), events, "the datagram socket at " + Addresses.text(address));
        receiveWait = new CompletionWait(queuePair.receiveCompletions(), events, sendWait.toString());
        buffers = new Buffers(id.protectionDomain(), sendWait.toString());
        sends = new SendQueue(queuePair, sendWait, options.sends(), WaitDriver.CENTURY);
        receives = new ReceiveQueue<>(
                queuePair,
                receiveWait,
                allocate((long) options.receives() * (Datagram.HEADER_BYTES + options.receiveBytes())),
                options.receives(),
                (queue, number, memory) -> new Datagram(this, queue, number, memory));
    }

    /** Lets peers resolve the address. */
    private Datagrams listen() {
        try {
            id.listen(BACKLOG);
            events.watch();
            return this;
        } catch (RuntimeException | Error failed) {
            Cleanup.after(failed, this::close);
            throw failed;
        }
    }

    /**
     * Opens a socket at an address of this host.
     *
     * @param local the address; port 0 for any free port, see {@link #address}
     * @throws IllegalArgumentException for a wildcard: a queue pair belongs to one device
     * @throws io.rdma4j.verbs.RdmaException {@code EADDRINUSE} or {@code EADDRNOTAVAIL} if the port is in use; {@code EADDRNOTAVAIL} if no interface
     *     has the address; {@code ENODEV} if no device has it
     */
    public static Datagrams bind(InetSocketAddress local) {
        return bind(ConnectionManager.ofProcess(), local, DatagramOptions.defaults());
    }

    /**
     * Opens a socket, like {@link #bind(InetSocketAddress)}.
     *
     * @param manager the devices, such as those of a host in a test
     * @param local the address
     * @param options the sizes
     */
    public static Datagrams bind(ConnectionManager manager, InetSocketAddress local, DatagramOptions options) {
        if (local.getAddress() == null || local.getAddress().isAnyLocalAddress()) {
            throw new IllegalArgumentException(Addresses.text(local)
                    + " is not an address of this host: bind to one, or use Datagrams.toward(peer)");
        }
        return Opening.open(manager, PortSpace.UDP, (channel, id) -> {
            id.bindAddress(local);
            return new Datagrams(manager, channel, id, options).listen();
        });
    }

    /**
     * Opens a socket at the address from which a peer is reached, and any free port.
     *
     * @throws io.rdma4j.verbs.RdmaException if there is no route to the peer, or no device has the local address
     */
    public static Datagrams toward(InetSocketAddress peer) {
        return toward(ConnectionManager.ofProcess(), peer, DatagramOptions.defaults());
    }

    /**
     * Opens a socket at the address from which a peer is reached, with the devices of a connection manager; see {@link
     * #toward(InetSocketAddress)}.
     */
    public static Datagrams toward(ConnectionManager manager, InetSocketAddress peer, DatagramOptions options) {
        InetAddress local;
        try (EventChannel channel = manager.openEventChannel();
                CmId id = channel.createId(PortSpace.UDP)) {
            Steps steps = new Steps(channel, "toward", Addresses.text(peer), DEFAULT_TIMEOUT);
            id.resolveAddress(peer, steps.remaining());
            steps.await(CmEvent.Type.ADDRESS_RESOLVED);
            local = Objects.requireNonNull(id.localAddress(), "the address is not resolved")
                    .getAddress();
        }
        return bind(manager, new InetSocketAddress(local, 0), options);
    }

    // ---- properties

    /** Returns the address, with the port that was chosen if none was given. */
    public InetSocketAddress address() {
        return address;
    }

    /** Returns the maximum length of a datagram that can be sent from here, in bytes: the MTU of the device's port. */
    public int maxSendBytes() {
        return maxSendBytes;
    }

    /** Returns the identifier, for features that this layer does not have. Its events belong to this object. */
    public CmId id() {
        return id;
    }

    int port() {
        return id.portNumber();
    }

    int gidIndex() {
        return gidIndex;
    }

    /** Allocates memory for datagrams to send. It is filled with zeros, and aligned to 64 bytes. */
    public Buffer allocate(long bytes) {
        return buffers.allocate(bytes);
    }

    /**
     * Registers memory for datagrams to send.
     *
     * @param memory memory that every thread may access, of an arena that stays open until the buffer or the socket is closed.
     *     Hardware needs native memory
     */
    public Buffer register(MemorySegment memory) {
        return buffers.register(memory);
    }

    // ---- peers and groups

    /**
     * Requests the number of a peer's queue pair, for at most 30 seconds.
     *
     * @param peer the address of a datagram socket, or of a C program that listens in the port space {@code RDMA_PS_UDP}
     * @throws io.rdma4j.verbs.RdmaException if no program listens there, the peer rejects the request, or there is no
     *     route to it
     * @throws io.rdma4j.verbs.RdmaTimeoutException if the peer does not answer
     * @throws io.rdma4j.verbs.InterruptedRdmaException if the thread is interrupted
     */
    public Destination resolve(InetSocketAddress peer) {
        return resolve(peer, DEFAULT_TIMEOUT);
    }

    /** Requests the number of a peer's queue pair, like {@link #resolve(InetSocketAddress)}, for at most the given time. */
    public Destination resolve(InetSocketAddress peer, Duration timeout) {
        requireOpen("resolve");
        try (EventChannel channel = manager.openEventChannel();
                CmId resolving = channel.createId(PortSpace.UDP)) {
            Steps steps = new Steps(channel, "resolve", Addresses.text(peer), timeout);
            steps.resolve(resolving, new InetSocketAddress(address.getAddress(), 0), peer);
            resolving.connect(ConnectionParameters.NONE.withQueuePairNumber(queuePair.number()));
            CmEvent event = steps.await(CmEvent.Type.ESTABLISHED);
            return Destination.of(((CmEvent.ServiceResolved) event).datagram());
        }
    }

    /**
     * Joins a multicast group: this socket receives the datagrams that any member, including itself, sends to it.
     *
     * @throws io.rdma4j.verbs.RdmaException {@code EINVAL} if the address is not a multicast address, or of another family than
     *     the socket
     */
    public Membership join(InetAddress group) {
        return join(MulticastJoinAttributes.of(group));
    }

    /** Joins a multicast group to send to it only; see {@link #join(InetAddress)}. */
    public Membership joinToSend(InetAddress group) {
        return join(MulticastJoinAttributes.of(group).withFlag(MulticastJoinFlag.SEND_ONLY_FULL_MEMBER));
    }

    private Membership join(MulticastJoinAttributes group) {
        requireOpen("join");
        return Opening.open(manager, PortSpace.UDP, (channel, joining) -> {
            Steps steps = new Steps(channel, "join", group.group().addressText(), DEFAULT_TIMEOUT);
            joining.bindAddress(new InetSocketAddress(address.getAddress(), 0));
            joining.joinMulticast(group);
            CmEvent event = steps.await(CmEvent.Type.MULTICAST_JOIN);
            Destination joined = Destination.of(((CmEvent.MulticastJoin) event).group());
            boolean receives = group.flag() == MulticastJoinFlag.FULL_MEMBER;
            return new Membership(channel, joining, joined, receives ? queuePair : null, memberships);
        });
    }

    private void requireOpen(String operation) {
        if (isClosing.get()) {
            throw new ClosedException(operation, sendWait + " is closed", "");
        }
    }

    // ---- datagrams

    /**
     * Sends a datagram. Returns when it is sent and the buffer can be used again; its arrival is not confirmed.
     *
     * @param datagram at most {@link #maxSendBytes} bytes; may be {@link Datagram#buffer}
     * @throws IllegalArgumentException if it is longer
     * @throws ClosedException if the socket is closed
     * @throws io.rdma4j.verbs.RdmaException if the device cannot send to the destination
     */
    public void send(Destination to, Buffer datagram) {
        requireLength(datagram);
        sendLock.lock();
        try {
            post(fill(to, datagram));
        } finally {
            sendLock.unlock();
        }
    }

    /** Sends a datagram with 32 bits of immediate data, like {@link #send(Destination, Buffer)}. */
    public void sendWithImmediate(Destination to, Buffer datagram, int immediate) {
        requireLength(datagram);
        sendLock.lock();
        try {
            post(fill(to, datagram).withImmediate(immediate));
        } finally {
            sendLock.unlock();
        }
    }

    private void requireLength(Buffer datagram) {
        if (datagram.lengthBytes() > maxSendBytes) {
            throw new IllegalArgumentException(
                    "a datagram of " + datagram.lengthBytes() + " bytes is longer than the MTU of " + maxSendBytes);
        }
    }

    private SendWorkRequest fill(Destination to, Buffer datagram) {
        requireOpen("send"); // closing has closed the address handles
        return request[0]
                .reset(0)
                .from(datagram.openRegion(), datagram.offsetBytes(), datagram.lengthBytes())
                .to(handle(to.path()), to.queuePairNumber(), to.queueKey());
    }

    /** Posts the request, and waits for it: an address handle is in use until then. */
    private void post(SendWorkRequest filled) {
        request[0] = filled;
        sends.awaitUninterruptibly("send", sends.postAll(request, 1, Long.MAX_VALUE));
    }

    private AddressHandle handle(AddressVector path) {
        AddressHandle handle = handles.get(path);
        if (handle == null) {
            if (handles.size() == MAX_HANDLES) { // senders choose their addresses, so the number must be limited
                closeHandles();
            }
            handle = id.protectionDomain().createAddressHandle(path);
            handles.put(path, handle);
        }
        return handle;
    }

    private void closeHandles() {
        List<AddressHandle> all = List.copyOf(handles.values());
        handles.clear();
        Cleanup.runAll(all.stream().<Runnable>map(handle -> handle::close).toList());
    }

    /**
     * Waits for a datagram.
     *
     * @return the datagram, to be closed after use
     * @throws ClosedException if the socket is closed
     * @throws io.rdma4j.verbs.InterruptedRdmaException if the thread is interrupted
     */
    public Datagram receive() {
        return receives.receive(Long.MAX_VALUE);
    }

    /**
     * Waits for a datagram, like {@link #receive()}, for at most the given time.
     *
     * @throws io.rdma4j.verbs.RdmaTimeoutException if none has arrived
     */
    public Datagram receive(Duration timeout) {
        return receives.receive(receiveWait.driver().deadlineNanos(timeout));
    }

    // ---- end

    /**
     * Leaves the groups, and closes the socket and the buffers that the program has not closed. Calls of other threads end with {@link ClosedException}.
     * Closing again has no effect.
     */
    @Override
    public void close() {
        if (!isClosing.compareAndSet(false, true)) {
            return;
        }
        buffers.refuse();
        List<Runnable> steps = new ArrayList<>();
        memberships.forEach(membership -> steps.add(membership::close));
        steps.add(sendWait::close);
        steps.add(receiveWait::close);
        steps.add(events::close);
        steps.add(this::closeHandlesLocked);
        steps.addAll(buffers.closingSteps());
        Cleanup.runAll(steps);
    }

    private void closeHandlesLocked() {
        sendLock.lock();
        try {
            closeHandles();
        } finally {
            sendLock.unlock();
        }
    }

    @Override
    public String toString() {
        return sendWait.toString();
    }
}

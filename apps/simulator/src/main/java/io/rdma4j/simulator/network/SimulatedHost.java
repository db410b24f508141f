package io.rdma4j.simulator.network;

import io.rdma4j.transport.CongestionMarks;
import io.rdma4j.transport.DatagramDestination;
import io.rdma4j.transport.MemoryTable;
import io.rdma4j.transport.QueuePairMachine;
import io.rdma4j.transport.RcQueuePair;
import io.rdma4j.transport.UcQueuePair;
import io.rdma4j.transport.UdQueuePair;
import io.rdma4j.transport.cm.AgentEvent;
import io.rdma4j.transport.cm.CmAgent;
import io.rdma4j.transport.cm.CmConfiguration;
import io.rdma4j.transport.cm.CmDatagram;
import io.rdma4j.value.Gid;
import io.rdma4j.wire.Ecn;
import io.rdma4j.wire.Frame;
import io.rdma4j.wire.Icrc;
import io.rdma4j.wire.Packet;
import io.rdma4j.wire.Psn;
import io.rdma4j.wire.cm.CmMad;
import io.rdma4j.wire.cm.CmMessage;
import io.rdma4j.wire.cm.CmRoute;
import io.rdma4j.wire.cm.GsiPacket;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.util.ArrayDeque;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.function.Consumer;

/**
 * A host of a {@link VirtualNetwork}, with an address, registered memory, queue pairs and a communication manager.
 *
 * <p>The network drives it like a device drives its engine. A {@link io.rdma4j.transport.SendRequest#destination} is a
 * host or a {@link SimulatedGroup}. Not thread safe.
 *
 * <p>Frames from a host that shares memory with this one have no ICRC and pass through a ring, as between two processes
 * of a host.
 *
 * <p>A paused host behaves like a process stopped by SIGSTOP or by a long garbage collection: frames queue up and are
 * read before timers fire. A crash destroys everything the host has. Frames that arrive while it is down are lost.
 */
public final class SimulatedHost implements DatagramDestination {
    private static final int MAX_FRAME_BYTES = 4096 + QueuePairMachine.HEADER_ROOM_BYTES + Packet.ICRC_LENGTH;

    /** The exclusive upper bound of the queue pair numbers that are assigned. */
    private static final int QUEUE_PAIR_NUMBERS = 0xff_ffff;

    /** The maximum number of removed queue pair numbers that are withheld from reuse. */
    private static final int MAX_RETIRED_NUMBERS = Math.min(QUEUE_PAIR_NUMBERS / 2, 256);

    /** Frames that are queued while the host is paused. Further frames are lost, as in a full socket buffer. */
    private static final int MAX_QUEUED_FRAMES = 1024;

    private static final int CM_SOURCE_PORT = 0xc001;

    private final VirtualNetwork network;
    private final long addressHigh;
    private final long addressLow;
    private final SplittableRandom random;
    private final long guid;
    private MemoryTable memory;
    private CmAgent agent;
    private Consumer<AgentEvent> eventHandler = event -> {};
    private final ArrayDeque<Runnable> queued = new ArrayDeque<>();
    private final Map<Integer, MessageReceiver> ports = new HashMap<>();
    private final ArrayDeque<Integer> retiredNumbers = new ArrayDeque<>();
    private boolean isUp = true;
    private boolean isPaused;
    private int madPsn;

    /** Frames that the current loss burst still drops. */
    int framesToLose;

    /** True if this host exchanges frames by shared memory with all other hosts that also share memory. */
    final boolean sharesMemory;

    private final Map<Integer, QueuePairMachine> queuePairs = new LinkedHashMap<>();
    private final Icrc icrc = new Icrc();
    private final Packet packet = new Packet();
    private final Frame outgoing = new Frame();
    private long badChecksums;
    private long unreadableFrames;
    private long unknownQueuePairs;

    SimulatedHost(
            VirtualNetwork network, long addressHigh, long addressLow, boolean sharesMemory, SplittableRandom random) {
        this.network = network;
        this.sharesMemory = sharesMemory;
        this.addressHigh = addressHigh;
        this.addressLow = addressLow;
        this.random = random;
        this.guid = addressLow << 32 | addressLow;
        this.memory = new MemoryTable(random::nextInt);
        this.agent = newAgent();
        byte[] bytes = new byte[MAX_FRAME_BYTES];
        outgoing.segment = MemorySegment.ofArray(bytes);
        outgoing.buffer = ByteBuffer.wrap(bytes);
        outgoing.sourceHigh = addressHigh;
        outgoing.sourceLow = addressLow;
    }

    /** Returns the upper half of the host's address in GID form. */
    public long addressHigh() {
        return addressHigh;
    }

    /** Returns the lower half of the host's address in GID form. */
    public long addressLow() {
        return addressLow;
    }

    /** Returns the current virtual time. */
    public long nowNanos() {
        return network.nowNanos();
    }

    private CmAgent newAgent() {
        return new CmAgent(CmConfiguration.of(guid, random::nextInt));
    }

    /** Returns the host's registered memory. A crash replaces it with a new, empty table. */
    public MemoryTable memory() {
        return memory;
    }

    /** Returns the host's communication manager. A crash replaces it with a new one. */
    public CmAgent agent() {
        return agent;
    }

    /** Sets the handler of the communication manager's events; by default they are ignored. */
    public void onCmEvent(Consumer<AgentEvent> handler) {
        eventHandler = handler;
    }

    /** Passes the events of the communication manager to the handler. The host also does this after each input. */
    public void handleEvents() {
        AgentEvent event = agent.pollEvent();
        while (event != null) {
            eventHandler.accept(event);
            event = agent.pollEvent();
        }
    }

    /** Returns whether the host is running. A paused host is treated as running. */
    public boolean isUp() {
        return isUp;
    }

    /** Returns whether the host is paused. */
    public boolean isPaused() {
        return isPaused;
    }

    /** Pauses the host until {@link #resume}. */
    public void pause() {
        isPaused = true;
    }

    /** Resumes the host, which first processes the frames queued during the pause. */
    public void resume() {
        isPaused = false;
        while (!queued.isEmpty()) {
            queued.remove().run();
        }
    }

    /** Destroys the memory registrations, queue pairs and connections without notifying any peer. */
    public void crash() {
        isUp = false;
        isPaused = false;
        queued.clear();
        ports.clear();
        List.copyOf(queuePairs.values()).forEach(this::remove);
        memory = new MemoryTable(random::nextInt);
        agent = newAgent();
    }

    /** Restarts the host after {@link #crash}, without memory, queue pairs or connections. */
    public void restart() {
        isUp = true;
    }

    /** Returns whether the host has no queue pairs, registrations, connections or unfinished service resolutions. */
    public boolean isEmpty() {
        return queuePairs.isEmpty()
                && memory.size() == 0
                && memory.windowCount() == 0
                && agent.connectionCount() == 0
                && agent.halfOpenCount() == 0
                && agent.resolutionCount() == 0
                && agent.waitingServiceRequests() == 0;
    }

    /** Describes the resources that the host still has, for error messages. */
    public String contents() {
        return queuePairs.keySet() + ", " + memory.size() + " regions, " + memory.windowCount() + " windows, "
                + agent.connectionCount() + " connections, " + agent.halfOpenCount() + " half open, "
                + agent.resolutionCount() + " resolutions, " + agent.waitingServiceRequests() + " service requests";
    }

    /** Returns the number of frames dropped because of a wrong ICRC. */
    public long badChecksums() {
        return badChecksums;
    }

    /** Returns a queue pair number that is neither in use on this host nor was used recently. */
    public int unusedQueuePairNumber() {
        // If few numbers exist, those retired longest ago become available first.
        while (retiredNumbers.size() + queuePairs.size() > QUEUE_PAIR_NUMBERS / 2 && !retiredNumbers.isEmpty()) {
            retiredNumbers.remove();
        }
        int number;
        do {
            number = random.nextInt(2, QUEUE_PAIR_NUMBERS);
        } while (queuePairs.containsKey(number) || retiredNumbers.contains(number));
        return number;
    }

    /** Adds a queue pair, before it has a path. Packets with its number are delivered to it. */
    public void add(QueuePairMachine queuePair) {
        if (network.isMarking()) {
            queuePair.congestionMarks(CongestionMarks.ON);
        }
        queuePairs.put(queuePair.number(), queuePair);
    }

    /** Removes a queue pair. Packets with its number are dropped. */
    public void remove(QueuePairMachine queuePair) {
        if (queuePairs.remove(queuePair.number()) != null) {
            retiredNumbers.add(queuePair.number());
            if (retiredNumbers.size() > MAX_RETIRED_NUMBERS) {
                retiredNumbers.remove();
            }
        }
    }

    /** Sends everything that the communication manager and the queue pairs have to transmit. */
    public void transmit() {
        if (isPaused) {
            return;
        }
        handleEvents();
        CmDatagram mad = agent.pollTransmit();
        while (mad != null) {
            sendMad(mad);
            mad = agent.pollTransmit();
        }
        for (QueuePairMachine queuePair : queuePairs.values()) {
            int bytes;
            while ((bytes = queuePair.pollTransmit(network.nowNanos(), outgoing.segment, 0)) > 0) {
                send(queuePair, bytes);
            }
        }
    }

    private void send(QueuePairMachine queuePair, int bytes) {
        outgoing.length = bytes + Packet.ICRC_LENGTH;
        outgoing.trafficClass = queuePair.isCongestionCapable() ? Ecn.CAPABLE : 0;
        address(queuePair);
        send(0xc000 | queuePair.number() & 0x3fff, queuePair.sealsFlushesAsLinux());
    }

    /**
     * Sends a management datagram that does not come from the host's communication manager.
     *
     * @param transactionId transaction ID of the datagram
     * @param route this host and the destination
     */
    public void send(CmMessage message, long transactionId, CmRoute route) {
        MemorySegment mad = MemorySegment.ofArray(new byte[CmMad.LENGTH]);
        message.emit(mad, 0, transactionId);
        sendMad(new CmDatagram(route, 0, mad));
    }

    private void sendMad(CmDatagram mad) {
        GsiPacket.writeHeaders(outgoing.segment, 0, madPsn++ & Psn.MASK);
        MemorySegment.copy(mad.mad(), 0, outgoing.segment, GsiPacket.HEADER_LENGTH, CmMad.LENGTH);
        outgoing.length = GsiPacket.LENGTH;
        outgoing.trafficClass = 0;
        address(mad.route().remote().high(), mad.route().remote().low());
        send(CM_SOURCE_PORT, false);
    }

    private void send(int sourcePort, boolean sealsFlushesAsLinux) {
        outgoing.offset = 0;
        outgoing.sourcePort = sourcePort;
        outgoing.identification = 0;
        outgoing.isSealed = !network.isByMemory(this, outgoing);
        if (outgoing.isSealed && sealsFlushesAsLinux && Icrc.isFlush(outgoing)) {
            icrc.sealFlushAsLinux(outgoing);
        } else if (outgoing.isSealed) {
            icrc.seal(outgoing);
        }
        network.send(this, outgoing);
    }

    private void address(QueuePairMachine queuePair) {
        QueuePairMachine.Peer peer = null;
        switch (queuePair) {
            case RcQueuePair reliable -> {
                RcQueuePair.ReceiveParameters parameters = reliable.receiveParameters();
                peer = parameters == null ? null : parameters.peer();
            }
            case UcQueuePair unreliable -> peer = unreliable.peer();
            case UdQueuePair datagrams -> {
                switch (datagrams.destination()) {
                    case SimulatedHost host -> address(host.addressHigh, host.addressLow);
                    case SimulatedGroup group -> address(group.addressHigh, group.addressLow);
                    case null, default -> throw new AssertionError("a datagram has no destination");
                }
                return;
            }
        }
        if (peer == null) {
            throw new AssertionError("a queue pair without a peer has sent a packet");
        }
        address(peer.remoteHigh(), peer.remoteLow());
    }

    private void address(long remoteHigh, long remoteLow) {
        outgoing.destinationHigh = remoteHigh;
        outgoing.destinationLow = remoteLow;
    }

    /** Processes a received frame, or queues it while the host is paused. */
    void receive(Frame frame) {
        if (!isPaused) {
            onFrame(frame);
        } else if (queued.size() < MAX_QUEUED_FRAMES) {
            queued.add(() -> onFrame(frame));
        }
    }

    /** Binds the receiver of the UDP messages to a port. */
    public void bind(int port, MessageReceiver receiver) {
        ports.put(port, receiver);
    }

    /** Reverts {@link #bind}. */
    public void unbind(int port) {
        ports.remove(port);
    }

    /**
     * Sends a UDP message, which is not RoCE.
     *
     * @param bytes the message, which is not modified afterwards
     * @return true if the network has duplicated it
     */
    public boolean sendMessage(SimulatedHost to, int fromPort, int toPort, byte[] bytes) {
        return network.sendMessage(this, to, bytes, () -> to.receive(this, fromPort, toPort, bytes));
    }

    /** Passes a UDP message to the receiver of its port, later if the host is paused. */
    private void receive(SimulatedHost from, int fromPort, int toPort, byte[] bytes) {
        if (isPaused && queued.size() < MAX_QUEUED_FRAMES) {
            queued.add(() -> receive(from, fromPort, toPort, bytes));
        } else if (!isPaused) {
            MessageReceiver receiver = ports.get(toPort);
            if (receiver != null) {
                receiver.onMessage(from, fromPort, bytes);
            }
        }
    }

    private void onFrame(Frame frame) {
        if (frame.isSealed) {
            onReadableFrame(frame);
        } else {
            SharedMemoryPath path = SharedMemoryPath.ofThread();
            Frame read = path.pass(frame);
            onReadableFrame(read);
            path.release(read);
        }
    }

    private void onReadableFrame(Frame frame) {
        if (packet.parse(frame) != Packet.Result.OK) {
            unreadableFrames++;
            return;
        }
        SimulatedGroup group = network.findGroup(frame.destinationHigh, frame.destinationLow);
        if (group != null) {
            onGroupFrame(group, frame);
            return;
        }
        if (GsiPacket.isGsi(packet)) {
            onMad(frame);
            return;
        }
        QueuePairMachine queuePair = queuePairs.get(packet.destinationQueuePair());
        if (queuePair == null) {
            unknownQueuePairs++;
            return;
        }
        if (!isIntact(frame)) {
            badChecksums++;
            return;
        }
        queuePair.onPacket(network.nowNanos(), packet);
    }

    private boolean isIntact(Frame frame) {
        return !frame.isSealed || icrc.verify(frame);
    }

    private void onMad(Frame frame) {
        if (!GsiPacket.isDeliverable(packet)) {
            unreadableFrames++;
        } else if (!isIntact(frame)) {
            badChecksums++;
        } else {
            CmRoute route = new CmRoute(
                    new Gid(frame.destinationHigh, frame.destinationLow),
                    new Gid(frame.sourceHigh, frame.sourceLow),
                    0);
            MemorySegment bytes = packet.payloadSegment().asSlice(packet.payloadOffset(), packet.payloadLength());
            agent.onMad(network.nowNanos(), new CmDatagram(route, 0, bytes));
            handleEvents();
        }
    }

    private void onGroupFrame(SimulatedGroup group, Frame frame) {
        if (packet.destinationQueuePair() != SimulatedGroup.QUEUE_PAIR) {
            unknownQueuePairs++;
        } else if (!isIntact(frame)) {
            badChecksums++;
        } else {
            for (UdQueuePair queuePair : group.queuePairs(this)) {
                queuePair.onPacket(network.nowNanos(), packet);
            }
        }
    }

    /** Returns the number of frames that were malformed or addressed to an unknown queue pair. */
    public long strayFrames() {
        return unreadableFrames + unknownQueuePairs;
    }

    void runDeadlines() {
        if (isPaused) {
            return;
        }
        if (agent.nextDeadlineNanos() <= network.nowNanos()) {
            agent.onDeadline(network.nowNanos());
            handleEvents();
        }
        for (QueuePairMachine queuePair : queuePairs.values()) {
            if (queuePair.nextDeadlineNanos() <= network.nowNanos()) {
                queuePair.onDeadline(network.nowNanos());
            }
        }
    }

    long nextDeadlineNanos() {
        if (isPaused) {
            return Long.MAX_VALUE;
        }
        long next = agent.nextDeadlineNanos();
        for (QueuePairMachine queuePair : queuePairs.values()) {
            next = Math.min(next, queuePair.nextDeadlineNanos());
        }
        return next;
    }
}

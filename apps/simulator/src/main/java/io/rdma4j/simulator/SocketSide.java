package io.rdma4j.simulator;

import io.rdma4j.simulator.network.SimulatedHost;
import io.rdma4j.sockets.datagram.DatagramAddress;
import io.rdma4j.sockets.datagram.DatagramNetwork;
import io.rdma4j.sockets.datagram.DatagramPath;
import io.rdma4j.sockets.datagram.DatagramProtocol;
import io.rdma4j.sockets.datagram.DatagramSizes;
import io.rdma4j.sockets.datagram.LocalEnd;
import io.rdma4j.transport.Completion;
import io.rdma4j.transport.MemoryRegion;
import io.rdma4j.transport.QueuePairMachine;
import io.rdma4j.transport.ReceiveRequest;
import io.rdma4j.transport.SendRequest;
import io.rdma4j.transport.UdQueuePair;
import io.rdma4j.value.AccessFlag;
import io.rdma4j.value.CompletionStatus;
import io.rdma4j.value.SendOpcode;
import io.rdma4j.wire.rsocket.DatagramHeader;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.util.ArrayDeque;
import java.util.SplittableRandom;

/**
 * A datagram RDMA socket of a run, until its host crashes.
 *
 * <p>It runs the real protocol over a datagram queue pair and UDP messages of the virtual network. Each datagram starts
 * with its number in the ledger.
 */
final class SocketSide implements DatagramNetwork {
    private static final int SLOTS = 64;
    private static final DatagramSizes SIZES =
            new DatagramSizes(SLOTS, SLOTS, SLOTS * DatagramSizes.SLOT_BYTES, SLOTS * DatagramSizes.SLOT_BYTES, 0);

    /** A message in the buffer of the UDP socket. */
    @SuppressWarnings("ArrayRecordComponent") // never compared
    private record Unread(DatagramAddress from, byte[] bytes) {}

    final DatagramAddress address;
    final SimulatedHost host;
    private final DatagramSockets all;
    private final MessageLedger ledger;
    private final SplittableRandom random;
    private final int mtu;
    private final MemoryRegion sendRegion;
    private final MemoryRegion receiveRegion;
    private final UdQueuePair queuePair;
    private final DatagramProtocol protocol = new DatagramProtocol(SIZES, this);
    private final LocalEnd end;
    private final ArrayDeque<Unread> unread = new ArrayDeque<>();
    private int psn;
    private long sentPacket;
    private int posted;
    private boolean isKilled;

    /**
     * Creates a socket that is bound to a port of a host.
     *
     * @param mtu path MTU of all hosts
     */
    SocketSide(
            DatagramSockets all, SimulatedHost host, int port, MessageLedger ledger, int mtu, SplittableRandom random) {
        this.all = all;
        this.host = host;
        this.ledger = ledger;
        this.mtu = mtu;
        this.random = random;
        address = new DatagramAddress(host.addressHigh(), host.addressLow(), 0, port);
        int stride = LocalEnd.ROUTE_BYTES + mtu;
        MemorySegment sendMemory = MemorySegment.ofArray(new byte[SLOTS * DatagramSizes.SLOT_BYTES]);
        MemorySegment receiveMemory = MemorySegment.ofArray(new byte[SLOTS * stride]);
        sendRegion = host.memory().register(sendMemory, 0, 0, UnreliableSide.DOMAIN);
        receiveRegion = host.memory().register(receiveMemory, 0, AccessFlag.LOCAL_WRITE.bit(), UnreliableSide.DOMAIN);
        queuePair = new UdQueuePair(
                host.unusedQueuePairNumber(),
                new QueuePairMachine.Configuration(SLOTS, SLOTS, 1, 1, 0, true, UnreliableSide.DOMAIN),
                this::onSendCompletion,
                this::onReceiveCompletion,
                event -> {});
        queuePair.toInit(0);
        queuePair.changeQueueKey(DatagramHeader.QUEUE_KEY);
        queuePair.toReadyToReceive(mtu);
        psn = random.nextInt(1 << 24);
        queuePair.toReadyToSend(psn);
        host.add(queuePair);
        end = new LocalEnd(address, queuePair.number(), SIZES, sendMemory, receiveMemory, stride, this::postReceive);
        end.postAll();
        protocol.add(end);
        host.bind(
                port,
                (from, fromPort, bytes) -> unread.add(
                        new Unread(new DatagramAddress(from.addressHigh(), from.addressLow(), 0, fromPort), bytes)));
    }

    /** Returns the name of the address. A socket that is opened after a restart of the host has the same name. */
    String name() {
        return "socket " + Chaos.name(host) + " port " + address.port();
    }

    private void postReceive(int slot) {
        ReceiveRequest request = queuePair.receiveQueue().claim();
        check(request != null, "more receives than slots");
        if (request != null) {
            request.workRequestId = slot;
            request.list.clear();
            int stride = LocalEnd.ROUTE_BYTES + mtu;
            request.list.add(receiveRegion, (long) slot * stride, stride);
            queuePair.receiveQueue().publish();
            posted++;
        }
    }

    // ---- the environment of the protocol

    @Override
    public LocalEnd localEnd(DatagramAddress peer, boolean wanted) {
        return end;
    }

    @Override
    public DatagramPath path(LocalEnd from, DatagramAddress peer) {
        return new DatagramPath() {
            @Override
            public int maxBytes() {
                return mtu;
            }

            @Override
            public void send(int slot, int length, int queuePairNumber) {
                post(peer, slot, length, queuePairNumber);
            }

            @Override
            public void close() {}
        };
    }

    private void post(DatagramAddress peer, int slot, int length, int queuePairNumber) {
        SendRequest request = queuePair.sendQueue().claim();
        check(request != null, "more sends than slots");
        if (request == null) {
            return;
        }
        request.workRequestId = slot;
        request.opcode = SendOpcode.SEND;
        request.signaled = true;
        request.solicited = false;
        request.inline = false;
        request.fence = false;
        request.destination = all.host(peer);
        request.remoteQueuePair = queuePairNumber;
        request.queueKey = DatagramHeader.QUEUE_KEY;
        request.lengthBytes = length;
        request.list.clear();
        request.list.add(sendRegion, (long) slot * DatagramSizes.SLOT_BYTES, length);
        queuePair.sendQueue().publish();
        sentPacket = MessageLedger.packet(queuePair.number(), queuePairNumber, psn++);
    }

    @Override
    public boolean sendCompanion(ByteBuffer message, DatagramAddress peer) {
        byte[] bytes = new byte[message.remaining()];
        message.get(bytes);
        sentPacket = all.nextMessage();
        if (host.sendMessage(all.host(peer), address.port(), peer.port(), bytes)) {
            ledger.onDuplicate(sentPacket);
        }
        return true;
    }

    @Override
    public void readCompanion() {
        while (!unread.isEmpty()) {
            Unread message = unread.remove();
            protocol.onCompanion(message.from, ByteBuffer.wrap(message.bytes), all.nowNanos());
        }
    }

    private void onSendCompletion(Completion completion) {
        check(completion.status == CompletionStatus.SUCCESS, "a send ended with " + completion.status);
        protocol.onSent(end, (int) completion.workRequestId);
    }

    private void onReceiveCompletion(Completion completion) {
        check(completion.status == CompletionStatus.SUCCESS, "a receive ended with " + completion.status);
        posted--;
        protocol.onReceived(
                end,
                (int) completion.workRequestId,
                (int) completion.byteLength,
                completion.hasRouteHeader,
                completion.sourceQueuePair,
                all.nowNanos());
    }

    // ---- the application

    /**
     * Sends a datagram of random bytes.
     *
     * @return its number, or 0 if no send slot is free
     */
    int send(SocketSide to) {
        int id = ledger.nextId();
        byte[] data = new byte[random.nextInt(Integer.BYTES, DatagramProtocol.maxPayloadBytes(address.isIpv4()) + 1)];
        random.nextBytes(data);
        ByteBuffer.wrap(data).putInt(id);
        if (!protocol.send(ByteBuffer.wrap(data), to.address, all.nowNanos())) {
            return 0;
        }
        ledger.add(name(), to.name(), data, true, sentPacket);
        return id;
    }

    /** Reads the messages of the UDP socket, and all datagrams that have arrived. */
    void receive() {
        if (isKilled || host.isPaused()) {
            return;
        }
        readCompanion();
        if (!protocol.canReceive()) {
            return;
        }
        ByteBuffer target = ByteBuffer.allocate(DatagramSizes.SLOT_BYTES);
        DatagramAddress from = protocol.receive(target, false);
        while (from != null) {
            int id = target.getInt(0);
            ledger.arrive(name(), id, target.array(), 0, target.position());
            check(
                    from.equals(all.address(ledger.sender(id))),
                    "datagram " + id + " of " + ledger.sender(id) + " has the source " + from);
            all.onArrival();
            from = protocol.receive(target.clear(), false);
        }
    }

    /** Marks the socket as killed, because its host crashes. */
    void kill() {
        isKilled = true;
    }

    boolean isKilled() {
        return isKilled;
    }

    /** Checks that no slot is lost, and closes the socket. */
    void checkEnd() {
        if (isKilled) {
            return;
        }
        check(posted == SLOTS, posted + " receives of " + SLOTS + " are posted");
        check(protocol.isQuiet() && protocol.canSend(), "a send slot is not free");
        protocol.close();
        host.unbind(address.port());
        host.remove(queuePair);
        host.memory().deregister(sendRegion);
        host.memory().deregister(receiveRegion);
    }

    private void check(boolean condition, String message) {
        if (!condition) {
            throw new SimulationFailure(name() + ": " + message);
        }
    }
}

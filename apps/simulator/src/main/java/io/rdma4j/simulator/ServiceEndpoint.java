package io.rdma4j.simulator;

import io.rdma4j.simulator.network.SimulatedHost;
import io.rdma4j.transport.Completion;
import io.rdma4j.transport.QueuePairMachine;
import io.rdma4j.transport.SendRequest;
import io.rdma4j.transport.UdQueuePair;
import io.rdma4j.value.SendOpcode;
import java.nio.ByteBuffer;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;

/**
 * The datagram queue pair of a client or a server of a datagram service.
 *
 * <p>It sends a datagram to each destination that it is given. A server's queue pair answers some datagrams, with the
 * client's queue key.
 */
final class ServiceEndpoint extends UnreliableSide {
    private static final int ROUTE_BYTES = UdQueuePair.ROUTE_HEADER_BYTES;
    private static final int IPV4_SOURCE_END_AT = 20 + 12;
    private static final int IPV6_SOURCE_END_AT = 8 + 12;

    /** Receives the number of a datagram, which has arrived for the first time, and its sender. */
    @FunctionalInterface
    interface Arrivals {
        void onDatagram(int id, ServiceEndpoint from);
    }

    /** A datagram to be sent. */
    private record Next(ServiceEndpoint to, int queueKey) {}

    private final List<ServiceEndpoint> all;
    private final int mtu;
    private final UdQueuePair queuePair;
    private final Arrivals arrivals;
    private final ArrayDeque<Next> next = new ArrayDeque<>();
    private final List<Integer> sent = new ArrayList<>();
    private final boolean isFed;
    private int psn;

    /**
     * Creates an endpoint that is ready to send.
     *
     * @param all all endpoints of the run, to which this one is added
     * @param planned maximum number of datagrams that it sends
     * @param incoming maximum number of datagrams that are sent to it
     */
    ServiceEndpoint(
            String name,
            SimulatedHost host,
            MessageLedger ledger,
            List<ServiceEndpoint> all,
            int mtu,
            int planned,
            int incoming,
            boolean isFed,
            Arrivals arrivals,
            SplittableRandom random) {
        super(name, host, ledger, mtu, mtu + ROUTE_BYTES, planned, incoming, isFed, random);
        this.all = all;
        this.mtu = mtu;
        this.isFed = isFed;
        this.arrivals = arrivals;
        int queueKey = random.nextInt() & Integer.MAX_VALUE;
        psn = 0xff_ffff - random.nextInt(20);
        queuePair = datagramQueuePair(queueKey, mtu, psn);
        all.add(this);
    }

    @Override
    public QueuePairMachine machine() {
        return queuePair;
    }

    int number() {
        return queuePair.number();
    }

    int queueKey() {
        return queuePair.queueKey();
    }

    /**
     * Sends a datagram to another endpoint, as soon as the send queue has space. The receiver drops a datagram with a
     * wrong key.
     */
    void send(ServiceEndpoint to, int queueKey) {
        next.add(new Next(to, queueKey));
    }

    @Override
    boolean hasNext() {
        return !next.isEmpty();
    }

    @Override
    public boolean isDone() {
        return isEnded() || next.isEmpty();
    }

    @Override
    void fill(SendRequest request) {
        Next datagram = next.remove();
        ServiceEndpoint to = datagram.to;
        request.opcode = random.nextBoolean() ? SendOpcode.SEND : SendOpcode.SEND_WITH_IMMEDIATE;
        request.destination = to.host;
        request.remoteQueuePair = to.number();
        request.queueKey = datagram.queueKey;
        byte[] message = message(request, Math.min(mtu, to.mtu));
        boolean hasKey = datagram.queueKey == to.queueKey();
        if (hasKey && to.isFed) {
            sent.add(ledger.nextId());
        }
        ledger.add(name, to.name, message, hasKey, MessageLedger.packet(number(), to.number(), psn++));
    }

    @Override
    void onArrival(Completion completion, byte[] memory, int offset) {
        check(completion.hasRouteHeader && completion.byteLength >= ROUTE_BYTES, "a datagram without its route header");
        int payload = offset + ROUTE_BYTES;
        int id = idOf(completion, memory, payload);
        boolean isFirst = !ledger.hasArrived(id);
        ledger.arrive(name, id, memory, payload, (int) completion.byteLength - ROUTE_BYTES);
        int source = ByteBuffer.wrap(memory)
                .getInt(offset + (host.addressHigh() == 0 ? IPV4_SOURCE_END_AT : IPV6_SOURCE_END_AT));
        ServiceEndpoint from = all.stream()
                .filter(each -> each.name.equals(ledger.sender(id)))
                .findFirst()
                .orElseThrow();
        check(
                completion.sourceQueuePair == from.number() && source == (int) from.host.addressLow(),
                "message " + id + " of " + from.name + " arrives from queue pair " + completion.sourceQueuePair
                        + " of 0x" + Integer.toHexString(source));
        if (isFirst) {
            arrivals.onDatagram(id, from);
        }
    }

    /**
     * Runs the final checks.
     *
     * @param mustArrive true if the network has lost nothing
     */
    void checkEnd(boolean mustArrive) {
        check(checkFinished(), "a datagram was placed in a receive that did not complete");
        if (mustArrive) {
            for (int id : sent) {
                check(ledger.hasArrived(id), "datagram " + id + " has not arrived, although the network loses nothing");
            }
        }
    }
}

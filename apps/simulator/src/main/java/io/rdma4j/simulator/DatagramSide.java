package io.rdma4j.simulator;

import io.rdma4j.simulator.network.SimulatedGroup;
import io.rdma4j.simulator.network.SimulatedHost;
import io.rdma4j.transport.Completion;
import io.rdma4j.transport.QueuePairMachine;
import io.rdma4j.transport.SendRequest;
import io.rdma4j.transport.UdQueuePair;
import io.rdma4j.value.SendOpcode;
import java.nio.ByteBuffer;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.SplittableRandom;

/**
 * A datagram queue pair that sends to all others and to multicast groups.
 *
 * <p>It is a member of some of the groups. Some datagrams have a queue key that differs from the receiver's.
 */
final class DatagramSide extends UnreliableSide {
    private static final int ROUTE_BYTES = UdQueuePair.ROUTE_HEADER_BYTES;
    private static final int OWN_KEY = 0x8000_0000;
    private static final int SOURCE_AT = 20 + 12;

    /** Offset of the last four bytes of an IPv6 source address in the route header. */
    private static final int IPV6_SOURCE_END_AT = 8 + 12;

    private final UdQueuePair queuePair;
    private final List<DatagramSide> all;
    private final int mtu;
    private final List<SimulatedGroup> groups;
    private final Set<SimulatedGroup> joined = new LinkedHashSet<>();
    private int psn;

    /**
     * Creates a side that is ready to send. The list {@code all} will contain it and the others, each of which sends
     * {@code planned} messages.
     */
    DatagramSide(
            String name,
            SimulatedHost host,
            MessageLedger ledger,
            List<DatagramSide> all,
            List<SimulatedGroup> groups,
            int mtu,
            int planned,
            int incoming,
            boolean alwaysHasReceives,
            SplittableRandom random) {
        super(name, host, ledger, mtu, mtu + ROUTE_BYTES, planned, incoming, alwaysHasReceives, random);
        this.all = all;
        this.groups = groups;
        this.mtu = mtu;
        int queueKey = random.nextInt(3);
        psn = 0xff_ffff - random.nextInt(20);
        queuePair = datagramQueuePair(queueKey, mtu, psn);
        for (SimulatedGroup group : groups) {
            if (random.nextBoolean()) {
                group.attach(host, queuePair);
                joined.add(group);
            }
        }
    }

    @Override
    public QueuePairMachine machine() {
        return queuePair;
    }

    @Override
    void fill(SendRequest request) {
        request.opcode = random.nextBoolean() ? SendOpcode.SEND : SendOpcode.SEND_WITH_IMMEDIATE;
        if (!groups.isEmpty() && random.nextInt(3) == 0) {
            fillForGroup(request, random.nextInt(groups.size()));
            return;
        }
        DatagramSide to = all.get(random.nextInt(all.size()));
        int key = random.nextInt(4) == 0 ? OWN_KEY | random.nextInt() : to.queuePair.queueKey();
        if (random.nextInt(8) == 0) {
            key = random.nextInt(3);
        }
        request.destination = to.host;
        request.remoteQueuePair = to.queuePair.number();
        request.queueKey = key;
        byte[] message = message(request, Math.min(mtu, to.mtu));
        boolean hasKey = (key < 0 ? queuePair.queueKey() : key) == to.queuePair.queueKey();
        ledger.add(
                name, to.name, message, hasKey, MessageLedger.packet(queuePair.number(), to.queuePair.number(), psn++));
    }

    /**
     * Fills a request to a group. Each member with the key receives the message, including this side if it is a member.
     */
    private void fillForGroup(SendRequest request, int index) {
        int key = random.nextInt(3);
        request.destination = groups.get(index);
        request.remoteQueuePair = SimulatedGroup.QUEUE_PAIR;
        request.queueKey = key;
        int longest = mtu;
        Set<String> receivers = new LinkedHashSet<>();
        for (DatagramSide side : all) {
            if (side.joined.contains(groups.get(index))) {
                longest = Math.min(longest, side.mtu);
                if (side.queuePair.queueKey() == key) {
                    receivers.add(side.name);
                }
            }
        }
        byte[] message = message(request, longest);
        long packet = MessageLedger.packet(queuePair.number(), SimulatedGroup.QUEUE_PAIR, psn++);
        ledger.add(name, "group " + index, receivers, message, packet);
    }

    @Override
    void onArrival(Completion completion, byte[] memory, int offset) {
        check(completion.hasRouteHeader && completion.byteLength >= ROUTE_BYTES, "a datagram without its route header");
        int payload = offset + ROUTE_BYTES;
        ledger.arrive(
                name, idOf(completion, memory, payload), memory, payload, (int) completion.byteLength - ROUTE_BYTES);
        int source =
                ByteBuffer.wrap(memory).getInt(offset + (host.addressHigh() == 0 ? SOURCE_AT : IPV6_SOURCE_END_AT));
        boolean isKnown = all.stream()
                .anyMatch(side -> side.queuePair.number() == completion.sourceQueuePair
                        && (int) side.host.addressLow() == source);
        check(isKnown, "a datagram from an unknown sender: 0x" + Integer.toHexString(source));
    }

    @Override
    public void kill() {
        super.kill();
        leaveGroups();
    }

    private void leaveGroups() {
        joined.forEach(group -> group.detach(host, queuePair));
    }

    /** Runs the final checks. */
    void checkEnd() {
        check(checkFinished(), "a datagram was placed in a receive that did not complete");
        leaveGroups();
    }
}

package io.rdma4j.simulator;

import io.rdma4j.simulator.network.VirtualNetwork;
import io.rdma4j.wire.Deth;
import io.rdma4j.wire.Packet;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * All messages of the unreliable queue pairs in a run.
 *
 * <p>A message that arrives must be one of them, complete, and addressed to the receiver. It may arrive once, or twice
 * if the network has duplicated each of its packets.
 */
final class MessageLedger {
    /** A message. */
    static final class Sent {
        /** The message's number, counted from 1 in the order of posting. */
        final int id;

        private final String from;
        private final String to;
        private final byte[] bytes;
        private final long[] packets;

        /** The number of arrivals at each possible receiver. */
        private final Map<String, Integer> arrivals = new LinkedHashMap<>();

        private Sent(int id, String from, String to, Set<String> receivers, byte[] bytes, long[] packets) {
            this.id = id;
            this.from = from;
            this.to = to;
            this.bytes = bytes;
            this.packets = packets;
            receivers.forEach(receiver -> arrivals.put(receiver, 0));
        }
    }

    private final List<Sent> messages = new ArrayList<>();
    private final Map<String, Integer> lastArrival = new HashMap<>();
    private final Set<Long> duplicated = new HashSet<>();
    private boolean keepsOrder = true;
    private int copies;
    private int arrived;
    private int arrivedAtMembers;

    /** Registers for the network's notifications of duplicated packets. */
    void watch(VirtualNetwork network) {
        Packet packet = new Packet();
        network.onDuplicate(frame -> {
            if (packet.parse(frame) == Packet.Result.OK) {
                boolean hasSource = packet.opcode().hasDeth();
                int from = hasSource ? Deth.sourceQueuePair(packet.segment(), packet.dethOffset()) : 0;
                duplicated.add(packet(from, packet.destinationQueuePair(), packet.psn()));
            }
        });
    }

    /** Notes that the network has duplicated a packet. */
    void onDuplicate(long packet) {
        duplicated.add(packet);
    }

    /** Returns the number of the next message. */
    int nextId() {
        return messages.size() + 1;
    }

    /**
     * Returns an identifier of a packet, which its copies share.
     *
     * @param from number of the sending queue pair, or 0 if the receiving queue pair has a single peer
     */
    static long packet(int from, int to, int psn) {
        return ((long) from << 24 ^ to) << 24 ^ psn & 0xff_ffff;
    }

    /**
     * Records a message when it is posted.
     *
     * @param from name of the sender
     * @param to name of the receiver
     * @param mayArrive true if the receiver may accept it
     * @param packets the identifiers of its packets
     */
    void add(String from, String to, byte[] bytes, boolean mayArrive, long... packets) {
        add(from, to, mayArrive ? Set.of(to) : Set.of(), bytes, packets);
    }

    /**
     * Records a message to a group when it is posted.
     *
     * @param to name of the group
     * @param receivers names of all possible receivers, in an order that is equal in each run
     */
    void add(String from, String to, Set<String> receivers, byte[] bytes, long... packets) {
        messages.add(new Sent(nextId(), from, to, receivers, bytes, packets));
        copies += Math.max(1, receivers.size());
    }

    /** Records and checks a message that has arrived. The array may be longer than the message. */
    void arrive(String at, int id, byte[] in, int offset, int length) {
        if (id < 1 || id > messages.size()) {
            throw new SimulationFailure(at + ": a message that was not sent, number " + id);
        }
        Sent sent = messages.get(id - 1);
        String message = at + ": message " + id + " of " + sent.bytes.length + " bytes";
        if (!sent.arrivals.containsKey(at)) {
            throw new SimulationFailure(message + " must not arrive; it was sent to " + sent.to);
        }
        if (!Arrays.equals(in, offset, offset + length, sent.bytes, 0, sent.bytes.length)) {
            throw new SimulationFailure(message + " has other bytes, or " + length + " of them");
        }
        boolean mayArriveTwice = Arrays.stream(sent.packets).allMatch(duplicated::contains);
        int times = sent.arrivals.merge(at, 1, Integer::sum);
        if (times > (mayArriveTwice ? 2 : 1)) {
            throw new SimulationFailure(message + " arrives for the " + times + "th time");
        }
        keepsOrder &= lastArrival.merge(sent.from + " to " + at, id, Integer::max) == id;
        arrived++;
        arrivedAtMembers += at.equals(sent.to) ? 0 : 1;
    }

    /** Returns whether a message was sent and has arrived anywhere. */
    boolean hasArrived(int id) {
        return id >= 1
                && id <= messages.size()
                && messages.get(id - 1).arrivals.values().stream().anyMatch(times -> times > 0);
    }

    /** Returns the name of the sender of a message that was sent. */
    String sender(int id) {
        return messages.get(id - 1).from;
    }

    /** Returns the number of messages sent. A message to a group counts once for each possible receiver. */
    int sent() {
        return copies;
    }

    /** Returns the number of messages that arrived. */
    int arrived() {
        return arrived;
    }

    /** Returns the number of group messages that arrived, counted once for each receiver. */
    int arrivedAtMembers() {
        return arrivedAtMembers;
    }

    /**
     * Checks that all messages have arrived in order; for a network without faults and with a receive for each message.
     */
    void checkAllArrivedInOrder() {
        for (Sent sent : messages) {
            if (sent.arrivals.values().stream().anyMatch(times -> times != 1)) {
                throw new SimulationFailure("message " + sent.id + " to " + sent.to + " arrived " + sent.arrivals);
            }
        }
        if (!keepsOrder) {
            throw new SimulationFailure("messages arrived out of order");
        }
    }
}

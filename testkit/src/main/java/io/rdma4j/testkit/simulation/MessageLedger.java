package io.rdma4j.testkit.simulation;

import io.rdma4j.testkit.VirtualNetwork;
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
 * All messages of unreliable queue pairs in a run. What arrives must be one of them, whole, at whom it was sent to, and at
 * most once; twice only if the network has doubled each of its packets.
 */
final class MessageLedger {
    /** A message. */
    static final class Sent {
        /** Its number, from 1 in the order of posting. */
        final int id;

        private final String from;
        private final String to;
        private final byte[] bytes;
        private final long[] packets;

        /** How often it arrived at each of those that may take it. */
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
    private final Set<Long> doubled = new HashSet<>();
    private boolean keepsOrder = true;
    private int copies;
    private int arrived;
    private int arrivedAtMembers;

    /** Lets the network tell which packets it doubles. */
    void watch(VirtualNetwork network) {
        Packet packet = new Packet();
        network.onDuplicate(frame -> {
            if (packet.parse(frame) == Packet.Result.OK) {
                boolean hasSource = packet.opcode().hasDeth();
                int from = hasSource ? Deth.sourceQueuePair(packet.segment(), packet.dethOffset()) : 0;
                doubled.add(packet(from, packet.destinationQueuePair(), packet.psn()));
            }
        });
    }

    /** Number of the next message. */
    int nextId() {
        return messages.size() + 1;
    }

    /**
     * A packet's name, by which the copies of it are known.
     *
     * @param from number of the sending queue pair, or 0 where the receiving one has one peer only
     */
    static long packet(int from, int to, int psn) {
        return ((long) from << 24 ^ to) << 24 ^ psn & 0xff_ffff;
    }

    /**
     * Notes a message when it is posted.
     *
     * @param from name of the sender
     * @param to name of the receiver
     * @param mayArrive whether the receiver may take it
     * @param packets the names of its packets
     */
    void add(String from, String to, byte[] bytes, boolean mayArrive, long... packets) {
        add(from, to, mayArrive ? Set.of(to) : Set.of(), bytes, packets);
    }

    /**
     * Notes a message to a group when it is posted.
     *
     * @param to name of the group
     * @param receivers names of all that may take it, in an order that is the same in each run
     */
    void add(String from, String to, Set<String> receivers, byte[] bytes, long... packets) {
        messages.add(new Sent(nextId(), from, to, receivers, bytes, packets));
        copies += Math.max(1, receivers.size());
    }

    /** Notes a message that arrived, and checks it; the bytes may be those of a longer array. */
    void arrive(String at, int id, byte[] in, int offset, int length) {
        if (id < 1 || id > messages.size()) {
            throw new SimulationFailure(at + ": a message that nobody sent, number " + id);
        }
        Sent sent = messages.get(id - 1);
        String message = at + ": message " + id + " of " + sent.bytes.length + " bytes";
        if (!sent.arrivals.containsKey(at)) {
            throw new SimulationFailure(message + " must not arrive; it was sent to " + sent.to);
        }
        if (!Arrays.equals(in, offset, offset + length, sent.bytes, 0, sent.bytes.length)) {
            throw new SimulationFailure(message + " has other bytes, or " + length + " of them");
        }
        boolean mayComeTwice = Arrays.stream(sent.packets).allMatch(doubled::contains);
        int times = sent.arrivals.merge(at, 1, Integer::sum);
        if (times > (mayComeTwice ? 2 : 1)) {
            throw new SimulationFailure(message + " arrives for the " + times + "th time");
        }
        keepsOrder &= lastArrival.merge(sent.from + " to " + at, id, Integer::max) == id;
        arrived++;
        arrivedAtMembers += at.equals(sent.to) ? 0 : 1;
    }

    /** Messages sent, those to a group once for each that may take them. */
    int sent() {
        return copies;
    }

    /** Messages that arrived. */
    int arrived() {
        return arrived;
    }

    /** Messages to groups that arrived, once for each member that took them. */
    int arrivedAtMembers() {
        return arrivedAtMembers;
    }

    /** Checks what must be so where the network loses and disturbs nothing and there is a receive for everything. */
    void checkAllArrivedInOrder() {
        for (Sent sent : messages) {
            if (sent.arrivals.values().stream().anyMatch(times -> times != 1)) {
                throw new SimulationFailure("message " + sent.id + " to " + sent.to + " arrived " + sent.arrivals);
            }
        }
        if (!keepsOrder) {
            throw new SimulationFailure("messages came out of order");
        }
    }
}

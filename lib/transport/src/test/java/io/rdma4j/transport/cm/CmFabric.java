package io.rdma4j.transport.cm;

import io.rdma4j.value.Gid;
import io.rdma4j.wire.cm.CmAttribute;
import io.rdma4j.wire.cm.CmMad;
import io.rdma4j.wire.cm.CmMessage;
import io.rdma4j.wire.cm.CmRoute;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.PriorityQueue;

/** Hosts on a network whose clock, losses, duplicates and delays the test controls. */
final class CmFabric {
    static final long MILLISECOND = 1_000_000;
    static final long SECOND = 1_000 * MILLISECOND;

    /** Chooses the delays in nanoseconds of the copies of a MAD that arrive; none if it is lost. */
    interface Delivery {
        long[] delays(CmAttribute attribute, int occurrence);
    }

    private record Flight(long arrival, long sequence, Gid from, Gid to, MemorySegment mad) {}

    final List<String> log = new ArrayList<>();
    final Map<CmAttribute, Integer> sent = new HashMap<>();
    Delivery delivery = (attribute, occurrence) -> new long[] {MILLISECOND};
    long now = 1_000 * SECOND;

    private final Map<Gid, CmHost> hosts = new HashMap<>();
    private final PriorityQueue<Flight> inFlight =
            new PriorityQueue<>(Comparator.comparingLong(Flight::arrival).thenComparingLong(Flight::sequence));
    private long sequence;

    void add(CmHost host) {
        hosts.put(host.address, host);
    }

    /** Transmits all pending messages of the hosts. */
    void flush() {
        for (CmHost host : hosts.values()) {
            host.handleEvents();
            CmDatagram out = host.agent.pollTransmit();
            while (out != null) {
                transmit(out);
                out = host.agent.pollTransmit();
            }
        }
    }

    private void transmit(CmDatagram out) {
        CmAttribute attribute = Objects.requireNonNull(CmMad.attribute(out.mad(), 0));
        int occurrence = sent.merge(attribute, 1, Integer::sum);
        Gid from = out.route().local();
        Gid to = out.route().remote();
        log.add(attribute.name());
        for (long delay : delivery.delays(attribute, occurrence)) {
            inFlight.add(new Flight(now + delay, sequence++, from, to, out.mad()));
        }
    }

    /** Immediately delivers a hand-made message from one address to another. */
    void inject(Gid from, Gid to, CmMessage message, long transaction) {
        MemorySegment mad = MemorySegment.ofArray(new byte[CmMad.LENGTH]);
        message.emit(mad, 0, transaction);
        deliver(new Flight(now, 0, from, to, mad));
        flush();
    }

    /** Advances the clock until {@code end}, delivering messages and firing deadlines. */
    void runUntil(long end) {
        flush();
        while (true) {
            long next = inFlight.isEmpty() ? Long.MAX_VALUE : inFlight.peek().arrival();
            for (CmHost host : hosts.values()) {
                next = Math.min(next, host.nextNanos());
            }
            if (next > end) {
                now = Math.max(now, end);
                return;
            }
            now = Math.max(now, next);
            while (!inFlight.isEmpty() && inFlight.peek().arrival() <= now) {
                deliver(inFlight.poll());
            }
            for (CmHost host : hosts.values()) {
                host.runDue();
            }
            flush();
        }
    }

    void run(long duration) {
        runUntil(now + duration);
    }

    /** Returns a MAD as the host at its destination receives it. */
    static CmDatagram received(Gid from, Gid to, MemorySegment mad) {
        return new CmDatagram(new CmRoute(to, from, 0), 0, mad);
    }

    private void deliver(Flight flight) {
        CmHost host = hosts.get(flight.to());
        if (host != null) {
            host.agent.onMad(now, received(flight.from(), flight.to(), flight.mad()));
            host.handleEvents();
        }
    }
}

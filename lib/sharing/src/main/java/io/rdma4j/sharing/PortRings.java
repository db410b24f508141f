package io.rdma4j.sharing;

import io.rdma4j.link.ReceiveBurst;
import io.rdma4j.link.ReceiveRing;
import io.rdma4j.link.RingListener;
import io.rdma4j.link.SendBurst;
import io.rdma4j.link.SendRing;
import io.rdma4j.wire.Bth;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * The rings in shared memory between an address of this process and the processes that share its run directory
 * (decision 047).
 *
 * <p>Each process accepts rings for each of its addresses at a socket that is named after the address and the slot. The
 * destination of a frame contains both, and therefore determines the socket. Each direction has its own ring, which the sending
 * process creates and hands over when it sends for the first time. Used under the engine lock.
 */
final class PortRings {
    private static final System.Logger LOGGER = System.getLogger(PortRings.class.getName());

    /** The time after which a ring is again offered to a process that had no socket for rings, or refused a ring. */
    private static final long RETRY_NANOS = 1_000_000_000;

    /** The interval at which a polling thread checks for new rings and for ended ones, which takes system calls. */
    private static final long CHECK_NANOS = 200_000;

    /** After frames from rings, more are expected for this time. */
    private static final long BUSY_NANOS = 1_000_000;

    /** The maximum number of remembered destinations. Beyond that, destinations without a ring are forgotten. */
    private static final int MAX_DESTINATIONS = 4096;

    /** The maximum number of rings to receive from: two addresses of each process that can have a slot. Each has its own memory. */
    private static final int MAX_RINGS = 512;

    /** A process at an address. */
    private record Destination(long high, long low, int slot) {}

    private static final class Peer {
        private @Nullable SendRing ring;
        private boolean wasTried;
        private long triedNanos;
    }

    private final PortEngine engine;
    private final HostPort port;
    private final Sharing sharing;
    private final SharingCounters counters;
    private final boolean isEnabled;
    private final Map<Destination, Peer> peers = new HashMap<>();

    /** The peers that have a ring. */
    private final List<Peer> outgoing = new ArrayList<>();

    private final List<ReceiveRing> incoming = new ArrayList<>();
    private @Nullable RingListener listener;
    private long lastCheckNanos;
    private long lastFrameNanos;
    private int checked;

    // The destination of the last burst: most bursts have the same as the one before.
    private long lastHigh;
    private long lastLow;
    private int lastSlot;
    private Peer last = new Peer();

    /**
     * Creates the rings of a port.
     *
     * @param isEnabled false if frames never take shared memory
     */
    PortRings(PortEngine engine, HostPort port, Sharing sharing, boolean isEnabled) {
        this.engine = engine;
        this.port = port;
        this.sharing = sharing;
        counters = sharing.counters();
        this.isEnabled = isEnabled;
    }

    /** Starts to accept rings from other processes. Without a socket for that, they send by UDP. */
    void listen() {
        if (!isEnabled || listener != null) {
            return;
        }
        Path socket = socket(port.high(), port.low(), port.slot());
        try {
            listener = engine.links().listenForRings(socket, engine.decorator().decorates());
            sharing.socketFiles().removeAtExit(socket);
        } catch (IOException e) {
            LOGGER.log(System.Logger.Level.DEBUG, "no shared memory for " + port.address(), e);
        }
    }

    private Path socket(long high, long low, int slot) {
        return sharing.directory().file(RunDirectory.ringSocketName(high, low, port.scope(), slot));
    }

    // ---- sending ----

    /**
     * Returns the ring to the process that all frames of a burst are for, or null if that process has none. Creates the ring if
     * the process accepts one.
     */
    @Nullable
    SendRing to(SendBurst burst) {
        int slot = isEnabled ? AddressSiblings.slotOf(burst) : 0;
        if (slot == 0 || !isForMainEngine(burst)) {
            return null;
        }
        long high = burst.destinationHigh();
        long low = burst.destinationLow();
        Peer peer = peer(high, low, slot);
        SendRing ring = peer.ring;
        return ring != null && !ring.isEnded() ? ring : open(peer, high, low, slot);
    }

    /** Returns false if packets to a queue pair go through a ring that has no room for them. */
    boolean hasRoom(long high, long low, int queuePairNumber, int bytes) {
        int slot = Slot.ofQueuePairNumber(queuePairNumber);
        if (!isEnabled || slot == 0 || !Slot.isOfMainEngine(queuePairNumber)) {
            return true;
        }
        SendRing ring = peer(high, low, slot).ring;
        return ring == null || ring.isEnded() || ring.hasRoom(bytes);
    }

    private Peer peer(long high, long low, int slot) {
        if (slot != lastSlot || low != lastLow || high != lastHigh) {
            last = find(high, low, slot);
            lastHigh = high;
            lastLow = low;
            lastSlot = slot;
        }
        return last;
    }

    /** Returns whether the main engine of the other process, which alone has rings, drives the queue pairs of all frames. */
    private static boolean isForMainEngine(SendBurst burst) {
        for (int i = 0; i < burst.receiverCount(); i++) {
            if (!Slot.isOfMainEngine(Bth.destinationQueuePair(burst.segment(), burst.offset(i)))) {
                return false;
            }
        }
        return true;
    }

    private Peer find(long high, long low, int slot) {
        if (peers.size() >= MAX_DESTINATIONS) {
            peers.values().removeIf(peer -> peer.ring == null);
        }
        return peers.computeIfAbsent(new Destination(high, low, slot), _ -> new Peer());
    }

    private @Nullable SendRing open(Peer peer, long high, long low, int slot) {
        if (peer.wasTried && engine.nowNanos() - peer.triedNanos < RETRY_NANOS) {
            return null;
        }
        closeEnded();
        peer.wasTried = true;
        peer.triedNanos = engine.nowNanos();
        Path socket = socket(high, low, slot);
        if (Files.exists(socket)) {
            try {
                peer.ring = engine.links().connectRing(socket, port.high(), port.low());
                if (peer.ring != null) {
                    outgoing.add(peer);
                }
            } catch (IOException e) {
                LOGGER.log(System.Logger.Level.DEBUG, "no shared memory to " + socket, e);
            }
        }
        return peer.ring;
    }

    /** Closes the rings to processes that have ended. */
    private void closeEnded() {
        for (int i = outgoing.size() - 1; i >= 0; i--) {
            Peer peer = outgoing.get(i);
            SendRing ring = peer.ring;
            if (ring == null || ring.isEnded()) {
                outgoing.remove(i);
                peer.ring = null;
                if (ring != null) {
                    ring.close();
                }
            }
        }
    }

    /** Writes a burst to a ring, or drops it if the other process does not keep up. */
    void send(SendRing ring, SendBurst burst, int sourcePort) {
        if (ring.send(burst, sourcePort)) {
            counters.memorySentPackets += burst.count();
        } else {
            drop(burst);
        }
    }

    /** Counts the frames of a burst that is dropped. */
    void drop(SendBurst burst) {
        counters.memoryDrops += burst.count();
    }

    // ---- receiving ----

    /** Returns whether frames have arrived in rings within the last millisecond, so that more are expected there. */
    boolean isBusy(long nowNanos) {
        return !incoming.isEmpty() && nowNanos - lastFrameNanos < BUSY_NANOS;
    }

    /** Returns whether there is any ring to receive from. */
    boolean isEmpty() {
        return incoming.isEmpty();
    }

    /** Accepts new rings, and checks whether processes have ended: now, or if the last check was long ago. */
    void check(long nowNanos, boolean now) {
        closeEnded(); // always: after the thread was woken by the end of a process, a long time may pass before the
        // next wakeup
        RingListener from = listener;
        if (from == null || !now && nowNanos - lastCheckNanos < CHECK_NANOS) {
            return;
        }
        lastCheckNanos = nowNanos;
        for (ReceiveRing ring = from.accept(); ring != null; ring = from.accept()) {
            if (incoming.size() < MAX_RINGS) {
                incoming.add(ring);
                lastFrameNanos = nowNanos;
            } else {
                ring.close(); // the process sends by UDP
            }
        }
        if (!now) {
            // The system notifies a thread that waits.
            for (int i = 0; i < incoming.size(); i++) {
                incoming.get(i).checkEnd();
            }
            checkOneOutgoing();
        }
    }

    /** Checks one ring for each call: a process that has many rings sends little through most of them. */
    private void checkOneOutgoing() {
        SendRing ring = outgoing.isEmpty() ? null : outgoing.get(Math.floorMod(checked++, outgoing.size())).ring;
        if (ring != null) {
            ring.checkEnd();
        }
    }

    /**
     * Receives the frames that the rings contain now, but none that are written meanwhile: other processes can write as
     * fast as this one reads.
     *
     * @param burst the burst to use
     */
    void receivePending(ReceiveBurst burst) {
        for (int i = incoming.size() - 1; i >= 0; i--) {
            ReceiveRing ring = incoming.get(i);
            long written = ring.written();
            burst.clear();
            while (!ring.hasReached(written) && ring.poll(burst, port.high(), port.low(), burst.capacity()) > 0) {
                engine.receiver().onRelayedFrames(engine.nowNanos(), port, burst);
                counters.memoryReceivedPackets += burst.count();
                burst.clear();
            }
        }
    }

    /**
     * Adds frames from all rings to a burst, as many as it has room for.
     *
     * @return the number of frames; 0 only if all rings are empty
     */
    int poll(long nowNanos, ReceiveBurst burst) {
        int added = 0;
        for (int i = incoming.size() - 1; i >= 0 && !burst.isFull(); i--) {
            ReceiveRing ring = incoming.get(i);
            int room = burst.capacity() - burst.count();
            int fromRing = ring.poll(burst, port.high(), port.low(), room);
            added += fromRing;
            if (fromRing == 0 && ring.isEnded() && ring.poll(burst, port.high(), port.low(), room) == 0) {
                // Everything that the process wrote before it ended was received: the second poll came after the end
                // was known.
                incoming.remove(i);
                ring.close();
            }
        }
        if (added > 0) {
            lastFrameNanos = nowNanos;
            counters.memoryReceivedPackets += added;
        }
        return added;
    }
}

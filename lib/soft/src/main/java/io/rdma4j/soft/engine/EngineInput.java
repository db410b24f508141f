package io.rdma4j.soft.engine;

import io.rdma4j.link.host.Interfaces;
import io.rdma4j.sharing.Port;
import io.rdma4j.value.Gid;
import java.net.InetAddress;
import java.util.Arrays;
import java.util.HashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * The input of one engine: its ports, its multicast groups and the frames that other engines hand over. Used under the
 * engine lock.
 */
final class EngineInput {
    /** The number of frames that ends {@link #receiveAll}: more than a socket buffer holds. */
    private static final int DRAIN_LIMIT_FRAMES = 1 << 14;

    private record AddressKey(Gid gid, int scope) {
        static AddressKey of(InetAddress address) {
            return new AddressKey(Gid.of(address), Interfaces.scope(address));
        }
    }

    private final Receiver receiver;
    private final CrossEngineQueue crossEngineQueue;
    private final Map<AddressKey, Port> byAddress = new HashMap<>();
    private Port[] ports = {};

    /** For each port, the number of duty cycles since its last input. */
    private int[] idleCycles = {};

    private FrameSource groups = FrameSource.NONE;
    private boolean wasLastEmpty;

    EngineInput(Receiver receiver, CrossEngineQueue crossEngineQueue) {
        this.receiver = receiver;
        this.crossEngineQueue = crossEngineQueue;
    }

    void add(Port port) {
        byAddress.put(AddressKey.of(port.address()), port);
        Port[] more = Arrays.copyOf(ports, ports.length + 1);
        more[ports.length] = port;
        ports = more;
        idleCycles = Arrays.copyOf(idleCycles, more.length);
    }

    void groups(FrameSource source) {
        groups = source;
    }

    /** Returns the port of a local address, or null. */
    @Nullable
    Port find(InetAddress address) {
        return byAddress.get(AddressKey.of(address));
    }

    /**
     * Receives a burst from each port and group; returns the number of frames.
     *
     * @param cold true to include those that have been idle for long
     * @param channels true to include the channels to other processes of this host, which are otherwise polled occasionally
     */
    int receive(long nowNanos, boolean cold, boolean channels) {
        int frames = groups.receive(nowNanos, cold) + crossEngineQueue.drain(nowNanos, receiver);
        Port[] all = ports;
        int[] idle = idleCycles;
        for (int i = 0; i < all.length; i++) {
            if (cold || all.length == 1 || idle[i] < FrameSource.COLD_CYCLES) {
                int count = all[i].receive(nowNanos, channels);
                idle[i] = count == 0 ? idle[i] + 1 : 0;
                frames += count;
            }
        }
        if (frames == 0 && cold) {
            for (Port port : all) {
                frames += port.receiveStray(nowNanos);
            }
        }
        wasLastEmpty = frames == 0;
        return frames;
    }

    /** Receives until nothing is pending, or more frames than a socket buffer holds were received; returns their number. */
    int receiveAll(long nowNanos) {
        int frames = 0;
        int count;
        do {
            count = receive(nowNanos, true, true);
            frames += count;
        } while (count > 0 && frames < DRAIN_LIMIT_FRAMES);
        return frames;
    }

    /** Returns whether the last {@link #receive} found nothing. */
    boolean wasLastEmpty() {
        return wasLastEmpty;
    }

    /** Returns the time at which {@link #receive} must be called even without input. */
    long nextDeadlineNanos() {
        long next = groups.nextDeadlineNanos();
        for (Port port : ports) {
            next = Math.min(next, port.nextDeadlineNanos());
        }
        return next;
    }
}

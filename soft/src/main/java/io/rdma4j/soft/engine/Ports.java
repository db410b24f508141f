package io.rdma4j.soft.engine;

import io.rdma4j.soft.host.GidAddresses;
import java.net.InetAddress;
import java.util.Arrays;
import java.util.HashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** The ports of one engine. Under the engine lock. */
final class Ports {
    private record AddressKey(long high, long low, int scope) {}

    private final Map<AddressKey, Port> byAddress = new HashMap<>();
    private Port[] all = {};

    void add(Port port) {
        byAddress.put(keyOf(port.address()), port);
        Port[] more = Arrays.copyOf(all, all.length + 1);
        more[all.length] = port;
        all = more;
    }

    /** Returns the port of a local address, or null. */
    @Nullable
    Port find(InetAddress address) {
        return byAddress.get(keyOf(address));
    }

    /** Returns the port of a local address in GID form, or null. */
    @Nullable
    Port find(long high, long low) {
        for (Port port : all) {
            if (port.isAt(high, low)) {
                return port;
            }
        }
        return null;
    }

    private static AddressKey keyOf(InetAddress address) {
        return new AddressKey(GidAddresses.high(address), GidAddresses.low(address), GidAddresses.scope(address));
    }

    /**
     * Receives a burst from each port; returns the number of frames.
     *
     * @param cold true to include ports that have been idle for long
     * @param channels true to include the channels of this host's processes, which are otherwise polled now and then
     */
    int receive(long nowNanos, boolean cold, boolean channels) {
        int frames = 0;
        for (Port port : all) {
            if (cold || all.length == 1 || port.idleCycles < FrameSource.COLD_CYCLES) {
                int count = port.receive(nowNanos, channels);
                port.idleCycles = count == 0 ? port.idleCycles + 1 : 0;
                frames += count;
            }
        }
        return frames;
    }

    /** Receives a burst from the sources that {@link #receive} does not poll each time. */
    int receiveStray(long nowNanos) {
        int frames = 0;
        for (Port port : all) {
            frames += port.receiveStray(nowNanos);
        }
        return frames;
    }

    long nextDeadlineNanos() {
        long next = Long.MAX_VALUE;
        for (Port port : all) {
            next = Math.min(next, port.nextDeadlineNanos());
        }
        return next;
    }
}

package io.rdma4j.soft.engine;

import java.net.InetAddress;
import java.util.Arrays;
import java.util.HashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** The ports of one engine. Under the engine lock. */
final class Ports {
    /** One of several ports that had no input for so many cycles is looked at less often by threads that poll. */
    static final int COLD_CYCLES = 512;

    private record AddressKey(long high, long low, int scope) {}

    private final Map<AddressKey, Port> byAddress = new HashMap<>();
    private Port[] all = {};

    void add(Port port) {
        byAddress.put(keyOf(port.address()), port);
        Port[] more = Arrays.copyOf(all, all.length + 1);
        more[all.length] = port;
        all = more;
    }

    /** The port of a local address, or null. */
    @Nullable
    Port find(InetAddress address) {
        return byAddress.get(keyOf(address));
    }

    /** The port of a local address in GID form, or null. */
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
     * Takes a burst from each port; returns how many frames came.
     *
     * @param cold whether also from those where nothing has come for long
     * @param channels whether also from this host's processes, which otherwise has its turn now and then
     */
    int receive(long nowNanos, boolean cold, boolean channels) {
        int frames = 0;
        for (Port port : all) {
            if (cold || all.length == 1 || port.idleCycles < COLD_CYCLES) {
                int count = port.receive(nowNanos, channels);
                port.idleCycles = count == 0 ? port.idleCycles + 1 : 0;
                frames += count;
            }
        }
        return frames;
    }

    /** Takes a burst from where {@link #receive} does not look each time. */
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

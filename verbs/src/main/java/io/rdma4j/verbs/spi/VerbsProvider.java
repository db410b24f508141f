package io.rdma4j.verbs.spi;

import io.rdma4j.verbs.Device;
import java.net.InetAddress;
import java.util.List;
import java.util.Optional;

/** A source of devices, found by {@link java.util.ServiceLoader}. Thread safe. */
public interface VerbsProvider {
    /** Short name, for messages: {@code soft}. */
    String name();

    /**
     * Devices of this host now; empty if there are none. A device equals itself in every list; one that has gone and come
     * back under its name is another, which does not equal the first.
     */
    List<Device> devices();

    /** The device that has a local address, or nothing. */
    Optional<Device> deviceOf(InetAddress address);
}

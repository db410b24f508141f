package io.rdma4j.verbs.spi;

import io.rdma4j.verbs.Device;
import java.net.InetAddress;
import java.util.List;
import java.util.Optional;

/** A source of devices, found by {@link java.util.ServiceLoader}. Thread safe. */
public interface VerbsProvider {
    /** The hint of an exception whose reason is from {@link #refusal}. */
    String REFUSAL_HINT = "RDMA4J_DEVICE=soft uses the software device instead, which works where the"
            + " network interface leaves UDP port 4791 to programs";

    /** Returns a short name for messages, for example {@code soft}. */
    String name();

    /**
     * Returns the preference. Providers are considered in descending order of preference, for lists and for an address.
     * The software device has 0, hardware has a higher value.
     */
    int preference();

    /**
     * Returns the current devices of this host, possibly none. The same device is equal in every list. A device that
     * was removed and added again under the same name is not equal to the earlier one.
     */
    List<Device> devices();

    /** Returns the device that has a local address, if any. */
    Optional<Device> deviceOf(InetAddress address);

    /**
     * Returns a clause that names the device with this local address, and explains why this process cannot use it.
     * Empty if the provider has no such device. After a refusal, no other provider's device is used for the address,
     * because the network card does not pass RoCE packets to programs.
     */
    default String refusal(InetAddress address) {
        return "";
    }

    /**
     * Creates two devices that reach only each other, and that no other process sees. A program moves data between
     * them, so that Java compiles the code before it is needed. Empty if this provider's devices do not run in Java.
     */
    default Optional<PrivateDevices> privateDevices() {
        return Optional.empty();
    }
}

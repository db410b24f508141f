package io.rdma4j.tools.command;

import io.rdma4j.cm.AddressInformation;
import io.rdma4j.cm.AddressInformation.Flag;
import io.rdma4j.cm.AddressInformation.Hints;
import io.rdma4j.value.PortSpace;
import java.net.InetSocketAddress;
import java.util.EnumSet;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** Resolves the addresses of a server or a client, like {@code get_rdma_addr} of the C tools. */
public final class CmAddresses {
    private CmAddresses() {}

    /**
     * Resolves the addresses to bind to or to connect to.
     *
     * @param source the local address as typed, or null for any
     * @param server the server's address as typed, or null for a server
     * @param port the server's port as typed
     * @param flags how to interpret the addresses
     * @param portSpace the port space of the service
     * @throws io.rdma4j.cm.AddressLookupException if an address cannot be resolved
     * @throws io.rdma4j.verbs.RdmaException {@code ENODEV} if there is no device
     */
    public static AddressInformation lookUp(
            @Nullable String source, @Nullable String server, String port, Set<Flag> flags, PortSpace portSpace) {
        Set<Flag> passive = EnumSet.of(Flag.PASSIVE);
        passive.addAll(flags);
        if (server == null) {
            return AddressInformation.lookUp(source, port, hints(passive, portSpace));
        }
        InetSocketAddress local = source == null
                ? null
                : AddressInformation.lookUp(source, null, hints(passive, portSpace))
                        .source();
        return AddressInformation.lookUp(server, port, hints(flags, portSpace).withSource(local));
    }

    private static Hints hints(Set<Flag> flags, PortSpace portSpace) {
        return Hints.of(portSpace, flags.toArray(Flag[]::new));
    }
}

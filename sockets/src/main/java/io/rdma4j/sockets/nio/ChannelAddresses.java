package io.rdma4j.sockets.nio;

import io.rdma4j.sockets.AddressRules;
import io.rdma4j.sockets.io.SocketFamily;
import java.net.InetSocketAddress;
import java.net.SocketAddress;
import java.nio.channels.UnresolvedAddressException;
import java.nio.channels.UnsupportedAddressTypeException;
import org.jspecify.annotations.Nullable;

/** What channels do with addresses. */
final class ChannelAddresses {
    private ChannelAddresses() {}

    /** An address to connect to, or an exception as channels throw it. */
    static InetSocketAddress remote(@Nullable SocketAddress address, SocketFamily family) {
        return family.reachable(inet(address));
    }

    /** An address to bind to; null stands for any. */
    static InetSocketAddress local(@Nullable SocketAddress address, SocketFamily family) {
        return address == null ? family.any() : family.local(inet(address));
    }

    private static InetSocketAddress inet(@Nullable SocketAddress address) {
        if (address == null) {
            throw new NullPointerException("address");
        }
        if (!(address instanceof InetSocketAddress inet)) {
            throw new UnsupportedAddressTypeException();
        }
        if (inet.isUnresolved()) {
            throw new UnresolvedAddressException();
        }
        return inet;
    }

    /** What goes over what, from or to an address. */
    static AddressRules.Way way(AddressRules rules, InetSocketAddress address) {
        return address.getAddress().isAnyLocalAddress() ? rules.wayToAll() : rules.wayTo(address.getAddress());
    }
}

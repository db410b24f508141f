package io.rdma4j.sockets.nio;

import io.rdma4j.sockets.io.SocketFamily;
import java.net.InetSocketAddress;
import java.net.SocketAddress;
import java.nio.channels.UnresolvedAddressException;
import java.nio.channels.UnsupportedAddressTypeException;
import org.jspecify.annotations.Nullable;

/** Address checks and conversions for channels. */
final class ChannelAddresses {
    private ChannelAddresses() {}

    /** Returns the address to connect to; throws the exceptions that channels specify. */
    static InetSocketAddress remote(@Nullable SocketAddress address, SocketFamily family) {
        return family.reachable(inet(address));
    }

    /** Returns the address to bind to; null means the wildcard address and any port. */
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
}

package io.rdma4j;

import java.net.InetSocketAddress;

/** Addresses in messages. */
final class Addresses {
    private Addresses() {}

    /** Returns an address and port as a program writes them: {@code 192.0.2.1:7471}, {@code [fd00::1]:7471} or {@code db.example.com:7471}. */
    static String text(InetSocketAddress address) {
        String host = address.getHostString();
        return (host.indexOf(':') < 0 ? host : "[" + host + "]") + ":" + address.getPort();
    }
}

package io.rdma4j.cm.host;

import java.net.Inet6Address;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.NetworkInterface;
import java.nio.ByteBuffer;

/** Formats addresses: IPv6 in the short form of RFC 5952, link-local addresses with their interface. Thread safe. */
public final class AddressText {
    private static final int GROUPS = 8;

    private AddressText() {}

    /** Returns an address with its port: {@code 10.0.0.1:7174}, {@code [fe80::1%eth0]:7174}. */
    public static String of(InetSocketAddress address) {
        InetAddress ip = address.getAddress();
        if (ip == null) {
            return address.getHostString() + ":" + address.getPort();
        }
        return (ip instanceof Inet6Address ? "[" + of(ip) + "]" : of(ip)) + ":" + address.getPort();
    }

    /** Returns an address without a port: {@code 10.0.0.1}, {@code ::1}, {@code fe80::1%eth0}. */
    public static String of(InetAddress address) {
        if (!(address instanceof Inet6Address six)) {
            return address.getHostAddress();
        }
        return shortest(six.getAddress()) + (six.isLinkLocalAddress() ? link(six) : "");
    }

    private static String link(Inet6Address address) {
        NetworkInterface link = address.getScopedInterface();
        if (link != null) {
            return "%" + link.getName();
        }
        return address.getScopeId() == 0 ? "" : "%" + address.getScopeId();
    }

    private static String shortest(byte[] bytes) {
        ByteBuffer groups = ByteBuffer.wrap(bytes);
        int runStart = -1;
        int runLength = 1;
        for (int i = 0; i < GROUPS; i++) {
            int end = i;
            while (end < GROUPS && groups.getShort(2 * end) == 0) {
                end++;
            }
            if (end - i > runLength) {
                runStart = i;
                runLength = end - i;
            }
        }
        StringBuilder text = new StringBuilder(39);
        int i = 0;
        while (i < GROUPS) {
            if (i == runStart) {
                text.append("::");
                i += runLength;
            } else {
                text.append(text.isEmpty() || text.charAt(text.length() - 1) == ':' ? "" : ":");
                text.append(Integer.toHexString(groups.getShort(2 * i) & 0xffff));
                i++;
            }
        }
        return text.toString();
    }
}

package io.rdma4j.link;

import java.net.InetAddress;
import java.net.NetworkInterface;
import java.net.SocketException;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * A network interface as it was a moment ago: what it has is asked for once, when first wanted. Two threads may both ask,
 * and get the same. Thread safe.
 */
public final class InterfaceView {
    /** Where the facts come from: the system, or a test. */
    interface Source {
        String name();

        int index();

        List<InetAddress> addresses();

        boolean isUp() throws SocketException;

        boolean isLoopback() throws SocketException;

        int mtuBytes() throws SocketException;

        byte @Nullable [] hardwareAddress() throws SocketException;
    }

    private final Source source;
    private final List<InetAddress> addresses;
    private volatile @Nullable Boolean up;
    private volatile @Nullable Boolean loopback;
    private volatile @Nullable Integer mtu;

    InterfaceView(Source source) {
        this.source = source;
        addresses = List.copyOf(source.addresses());
    }

    /** Name, such as {@code eth0}. */
    public String name() {
        return source.name();
    }

    /** Number; an interface that comes back under an old name has another. */
    public int index() {
        return source.index();
    }

    /** Its addresses; of 127/8 only those that were given to it. */
    public List<InetAddress> addresses() {
        return addresses;
    }

    /**
     * Whether it is up.
     *
     * @throws SocketException if it has gone since
     */
    public boolean isUp() throws SocketException {
        Boolean known = up;
        if (known == null) {
            known = source.isUp();
            up = known;
        }
        return known;
    }

    /**
     * Whether all of 127/8 belongs to it.
     *
     * @throws SocketException if it has gone since
     */
    public boolean isLoopback() throws SocketException {
        Boolean known = loopback;
        if (known == null) {
            known = source.isLoopback();
            loopback = known;
        }
        return known;
    }

    /**
     * Largest IP packet, in bytes.
     *
     * @throws SocketException if it has gone since
     */
    public int mtuBytes() throws SocketException {
        Integer known = mtu;
        if (known == null) {
            known = source.mtuBytes();
            mtu = known;
        }
        return known;
    }

    /**
     * Returns the hardware address; empty if the interface has none.
     *
     * @throws SocketException if the interface does not exist any longer
     */
    public byte[] hardwareAddress() throws SocketException {
        byte[] address = source.hardwareAddress();
        return address == null ? new byte[0] : address;
    }

    /**
     * Returns an interface of a virtual host.
     *
     * @param name a name, such as {@code eth0}
     * @param index a number greater than 0
     * @param addresses the addresses of the interface
     * @param isUp whether the interface is up
     * @param mtuBytes the largest IP packet, in bytes
     */
    public static InterfaceView ofVirtualHost(
            String name, int index, List<InetAddress> addresses, boolean isUp, int mtuBytes) {
        return new InterfaceView(new VirtualInterface(name, index, addresses, isUp, mtuBytes));
    }

    private record VirtualInterface(String name, int index, List<InetAddress> addresses, boolean isUp, int mtuBytes)
            implements Source {
        @Override
        public boolean isLoopback() {
            return addresses.stream().anyMatch(InetAddress::isLoopbackAddress);
        }

        @Override
        public byte @Nullable [] hardwareAddress() {
            return null;
        }
    }

    /** An interface of this host. */
    record JavaInterface(NetworkInterface network) implements Source {
        @Override
        public String name() {
            return network.getName();
        }

        @Override
        public int index() {
            return network.getIndex();
        }

        @Override
        public List<InetAddress> addresses() {
            return network.inetAddresses().toList();
        }

        @Override
        public boolean isUp() throws SocketException {
            return network.isUp();
        }

        @Override
        public boolean isLoopback() throws SocketException {
            return network.isLoopback();
        }

        @Override
        public int mtuBytes() throws SocketException {
            return network.getMTU();
        }

        @Override
        public byte @Nullable [] hardwareAddress() throws SocketException {
            return network.getHardwareAddress();
        }
    }
}

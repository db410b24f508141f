package io.rdma4j.link.host;

import java.io.IOException;
import java.net.InetAddress;
import java.net.NetworkInterface;
import java.net.SocketException;
import java.nio.file.Files;
import java.nio.file.InvalidPathException;
import java.nio.file.Path;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * A recent view of a network interface. Each property is read from the system on first use and then kept. Two threads may both
 * read a property, and get the same value. Thread safe.
 */
public final class InterfaceView {
    /** The source of the properties: the system, or a test. */
    interface Source {
        String name();

        int index();

        List<InetAddress> addresses();

        boolean isUp() throws SocketException;

        boolean isLoopback() throws SocketException;

        int mtuBytes() throws SocketException;

        byte @Nullable [] hardwareAddress() throws SocketException;

        /** Returns the speed in Mbit/s, or 0 if it is unknown. */
        default int megabitsPerSecond() {
            return 0;
        }
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

    /** Returns the name, such as {@code eth0}. */
    public String name() {
        return source.name();
    }

    /** Returns the interface index. An interface that is created again under the same name has a different index. */
    public int index() {
        return source.index();
    }

    /** Returns the interface's addresses. Of 127/8 only the addresses that were explicitly assigned are included. */
    public List<InetAddress> addresses() {
        return addresses;
    }

    /**
     * Returns whether the interface is up.
     *
     * @throws SocketException if the interface no longer exists
     */
    public boolean isUp() throws SocketException {
        Boolean cached = up;
        if (cached == null) {
            cached = source.isUp();
            up = cached;
        }
        return cached;
    }

    /**
     * Returns whether this is the loopback interface, to which all of 127/8 belongs.
     *
     * @throws SocketException if the interface no longer exists
     */
    public boolean isLoopback() throws SocketException {
        Boolean cached = loopback;
        if (cached == null) {
            cached = source.isLoopback();
            loopback = cached;
        }
        return cached;
    }

    /**
     * Returns the size of the largest IP packet, in bytes.
     *
     * @throws SocketException if the interface no longer exists
     */
    public int mtuBytes() throws SocketException {
        Integer cached = mtu;
        if (cached == null) {
            cached = source.mtuBytes();
            mtu = cached;
        }
        return cached;
    }

    /**
     * Returns the hardware address; empty if the interface has none.
     *
     * @throws SocketException if the interface no longer exists
     */
    public byte[] hardwareAddress() throws SocketException {
        byte[] address = source.hardwareAddress();
        return address == null ? new byte[0] : address;
    }

    /**
     * Returns the speed of the link in Mbit/s; 0 if it is unknown, as for interfaces without hardware, while the interface is
     * down, and on systems other than Linux.
     */
    public int megabitsPerSecond() {
        return source.megabitsPerSecond();
    }

    /**
     * Returns an interface of a virtual host.
     *
     * @param name a name, such as {@code eth0}
     * @param index a number greater than 0
     * @param addresses the addresses of the interface
     * @param isUp true if the interface is up
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
        /** The interfaces by name, on Linux. */
        private static final Path SYSTEM = Path.of("/sys/class/net");

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
            return Interfaces.addresses(network);
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

        @Override
        public int megabitsPerSecond() {
            try {
                // The kernel reports -1 for an unknown speed, and refuses to read the file while the interface is down.
                List<String> lines =
                        Files.readAllLines(SYSTEM.resolve(network.getName()).resolve("speed"));
                return lines.isEmpty() ? 0 : Math.max(0, Integer.parseInt(lines.getFirst()));
            } catch (IOException | InvalidPathException | NumberFormatException unknown) {
                return 0;
            }
        }
    }
}

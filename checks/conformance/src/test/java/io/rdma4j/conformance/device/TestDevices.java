package io.rdma4j.conformance.device;

import io.rdma4j.value.Gid;
import io.rdma4j.verbs.Device;
import io.rdma4j.verbs.DeviceContext;
import io.rdma4j.verbs.TransportType;
import java.net.Inet4Address;
import java.net.Inet6Address;
import java.net.InetAddress;
import java.net.NetworkInterface;
import java.net.SocketException;
import java.net.UnknownHostException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.ThreadLocalRandom;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Assumptions;

/**
 * The device under test and its addresses.
 *
 * <p>It is the software device of the loopback interface, or the one that the system property {@value #DEVICE} names,
 * with its own addresses and those of {@value #PEERS}. {@code checks/conformance/run} sets both. A test that needs a feature that
 * the device lacks ends as aborted, with a sentence that names the feature.
 */
public final class TestDevices {
    /** The system property with the name of the device, as {@code ibv_devices} prints it. */
    public static final String DEVICE = "rdma4j.conformance.device";

    /** The system property with addresses of other devices, separated by commas, for the other end of a connection. */
    public static final String PEERS = "rdma4j.conformance.peers";

    /** The system property with the part of the load, in percent, that load tests put on the device. */
    public static final String LOAD = "rdma4j.conformance.load";

    private static final InetAddress LOOPBACK = InetAddress.ofLiteral("127.0.0.1");
    private static final InetAddress LOOPBACK6 = InetAddress.ofLiteral("::1");

    private static final @Nullable String NAMED = System.getProperty(DEVICE);
    private static final List<InetAddress> OWN = NAMED == null ? List.of(LOOPBACK) : addressesOf(NAMED);
    private static final List<InetAddress> OTHERS = others();
    private static final Driver DRIVER = Driver.of(Device.named(name()).orElseThrow());

    private TestDevices() {}

    private static List<InetAddress> addressesOf(String name) {
        Device device = Device.named(name)
                .orElseThrow(() -> new IllegalArgumentException(
                        "there is no device " + name + "; checks/conformance/run --list prints the names"));
        List<InetAddress> addresses = new ArrayList<>();
        try (DeviceContext context = device.open()) {
            allAddresses(context).filter(each -> !each.isLinkLocalAddress()).forEach(addresses::add);
        }
        for (InetAddress address : addresses) {
            String owner = Device.of(address).map(Device::name).orElse("no device");
            if (!owner.equals(name)) {
                throw new IllegalArgumentException("the address " + address.getHostAddress() + " of " + name
                        + " belongs to " + owner + " when a program asks for it");
            }
        }
        return List.copyOf(addresses);
    }

    /** Returns the addresses of a device. They are its GIDs or, with iWARP, those of its network interface. */
    private static Stream<InetAddress> allAddresses(DeviceContext context) {
        if (context.device().transportType() != TransportType.IWARP) {
            return context.gids(1).stream().filter(gid -> !gid.equals(Gid.ZERO)).map(Gid::toInetAddress);
        }
        try {
            return NetworkInterface.getByName(context.port(1).networkInterface())
                    .inetAddresses();
        } catch (SocketException e) {
            throw new IllegalArgumentException("the network interface of " + context.device() + " cannot be read", e);
        }
    }

    private static List<InetAddress> others() {
        return Stream.of(System.getProperty(PEERS, "").split(",", -1))
                .filter(text -> !text.isEmpty())
                .map(InetAddress::ofLiteral)
                .toList();
    }

    /** Returns the name of the device under test. */
    public static String name() {
        return NAMED == null ? Device.of(LOOPBACK).orElseThrow().name() : NAMED;
    }

    /** Returns the driver of the device under test. */
    public static Driver driver() {
        return DRIVER;
    }

    /** Returns the part of a number of connections or messages that {@value #LOAD} specifies, at least 2. */
    public static int load(int full) {
        return Math.max(2, (int) (full * (long) Integer.getInteger(LOAD, 100) / 100));
    }

    /** Returns how long a test waits for an event. A device with less {@value #LOAD} is slow, and gets a minute. */
    public static Duration patience() {
        return Duration.ofSeconds(Integer.getInteger(LOAD, 100) < 100 ? 60 : 10);
    }

    /** Returns an IPv4 address of the device, the same one for all callers. */
    public static InetAddress address() {
        return OWN.stream()
                .filter(Inet4Address.class::isInstance)
                .findFirst()
                .orElseThrow(() -> new IllegalArgumentException(name() + " has no IPv4 address, which the tests need"));
    }

    /** Returns an IPv4 address of the device: of the loopback device, one that no other test is likely to use. */
    public static InetAddress freshAddress() {
        return NAMED == null ? random(127) : address();
    }

    /** Returns an IPv4 address of the device that differs from another one. */
    public static InetAddress anotherAddressThan(InetAddress address) {
        if (NAMED == null) {
            return random(127);
        }
        Optional<InetAddress> another = OWN.stream()
                .filter(each -> each instanceof Inet4Address && !each.equals(address))
                .findFirst();
        assumeHas(another.isPresent(), "another IPv4 address than " + address.getHostAddress());
        return another.orElseThrow();
    }

    /** Returns an IPv4 address of another device of this host, of the same kind and transport. */
    public static InetAddress addressOfAnotherDevice() {
        TransportType transport = Device.named(name()).orElseThrow().transportType();
        for (Device device : Device.list()) {
            if (device.name().equals(name())
                    || device.transportType() != transport
                    || (Driver.of(device) == Driver.SOFTWARE) != (DRIVER == Driver.SOFTWARE)) {
                continue;
            }
            try (DeviceContext context = device.open()) {
                Optional<InetAddress> found = allAddresses(context)
                        .filter(Inet4Address.class::isInstance)
                        .findFirst();
                if (found.isPresent()) {
                    return found.get();
                }
            }
        }
        return Assumptions.abort("this host has no other device of the kind of " + name() + " with an IPv4 address");
    }

    /** Returns the address of the other end of a connection from an address: a peer's, or the same address. */
    public static InetAddress peerOf(InetAddress address) {
        return OTHERS.stream()
                .filter(each -> each.getClass().equals(address.getClass()))
                .findFirst()
                .orElse(address);
    }

    /** Returns an IPv6 address of the device that is not link-local. */
    public static InetAddress ipv6Address() {
        Optional<InetAddress> address = NAMED == null
                ? Optional.of(LOOPBACK6).filter(each -> Device.of(each).isPresent())
                : OWN.stream().filter(Inet6Address.class::isInstance).findFirst();
        assumeHas(address.isPresent(), "an IPv6 address");
        return address.orElseThrow();
    }

    /** Returns an IPv4 address of the device, and an IPv6 address if it has one. */
    public static Stream<InetAddress> addressOfEachFamily() {
        return Stream.concat(
                Stream.of(address()),
                NAMED == null
                        ? Stream.of(LOOPBACK6).filter(each -> Device.of(each).isPresent())
                        : OWN.stream().filter(Inet6Address.class::isInstance).limit(1));
    }

    /**
     * Returns all addresses under test: those of a device that is named and of its peers, else every address of this
     * host, including link-local ones.
     */
    public static Stream<InetAddress> addresses() throws SocketException {
        return NAMED != null
                ? Stream.concat(OWN.stream(), OTHERS.stream())
                : NetworkInterface.networkInterfaces()
                        .filter(TestDevices::isUp)
                        .flatMap(NetworkInterface::inetAddresses);
    }

    private static boolean isUp(NetworkInterface each) {
        try {
            return each.isUp();
        } catch (SocketException e) {
            return false;
        }
    }

    /** Returns the name of the network interface that has {@link #address}. */
    public static String networkInterface() throws SocketException {
        return NetworkInterface.getByInetAddress(address()).getName();
    }

    /** Returns a multicast group of 239/8 that no other test is likely to use. */
    public static InetAddress group() {
        return random(239);
    }

    private static InetAddress random(int network) {
        ThreadLocalRandom random = ThreadLocalRandom.current();
        byte[] bytes = {
            (byte) network, (byte) random.nextInt(1, 255), (byte) random.nextInt(256), (byte) random.nextInt(1, 255)
        };
        try {
            return InetAddress.getByAddress(bytes);
        } catch (UnknownHostException e) {
            throw new AssertionError("four bytes are an address", e);
        }
    }

    /** Ends the calling test as aborted unless the device has the addresses of loopback, 127/8. */
    public static void requireLoopback() {
        assumeHas(address().isLoopbackAddress(), "the addresses of loopback");
    }

    /** Ends the calling test as aborted if the device lacks a capability. */
    public static void require(Capability capability) {
        try (DeviceContext context = Device.of(address()).orElseThrow().open()) {
            Optional<String> lack = capability.lackOf(context);
            Assumptions.assumeTrue(lack.isEmpty(), () -> lack.orElseThrow());
        }
    }

    private static void assumeHas(boolean has, String what) {
        Assumptions.assumeTrue(has, () -> name() + " lacks " + what);
    }
}

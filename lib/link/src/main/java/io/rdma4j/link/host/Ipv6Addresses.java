package io.rdma4j.link.host;

import java.io.BufferedReader;
import java.io.IOException;
import java.net.Inet6Address;
import java.net.NetworkInterface;
import java.net.SocketException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.List;

/**
 * Linux's list of the IPv6 addresses of this host.
 *
 * <p>Java reads this file. If it lacks a descriptor for that, it lists interfaces without IPv6 addresses, and reports no error.
 */
final class Ipv6Addresses {
    private static final Path LIST = Path.of("/proc/net/if_inet6");

    private Ipv6Addresses() {}

    /**
     * Returns whether all IPv6 addresses of the host may be missing from a list of interfaces.
     *
     * @throws SocketException if this process lacks the descriptor to check
     */
    static boolean mayBeMissing(List<NetworkInterface> listed) throws SocketException {
        return !Boolean.getBoolean("java.net.preferIPv4Stack")
                && listed.stream().flatMap(NetworkInterface::inetAddresses).noneMatch(Inet6Address.class::isInstance)
                && exist();
    }

    private static boolean exist() throws SocketException {
        try (BufferedReader reader = Files.newBufferedReader(LIST)) {
            return reader.readLine() != null;
        } catch (NoSuchFileException withoutIpv6OrLinux) {
            return false;
        } catch (IOException e) {
            throw failure(e);
        }
    }

    /**
     * Checks that Java could have read the list, for which it needs two descriptors. If so, Java has no IPv6, or the addresses
     * are new.
     *
     * @throws SocketException if this process lacks them
     */
    static void requireDescriptors() throws SocketException {
        try (BufferedReader first = Files.newBufferedReader(LIST);
                BufferedReader second = Files.newBufferedReader(LIST)) {
            boolean _ = first.ready() && second.ready();
        } catch (IOException e) {
            throw failure(e);
        }
    }

    private static SocketException failure(IOException cause) {
        SocketException failure = new SocketException("list the IPv6 addresses: " + cause.getMessage());
        failure.initCause(cause);
        return failure;
    }
}

package io.rdma4j.conformance.device;

import java.io.IOException;
import java.net.Inet4Address;
import java.net.InetAddress;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HexFormat;
import java.util.Locale;

/** The multicast groups that this host is a member of, according to Linux; see proc(5). */
public final class KernelGroups {
    private KernelGroups() {}

    /** Returns whether the host is a member of a group on a network interface. */
    public static boolean isMember(InetAddress group, String interfaceName) throws IOException {
        return group instanceof Inet4Address
                ? isIpv4Member(group.getAddress(), interfaceName)
                : isIpv6Member(group.getAddress(), interfaceName);
    }

    private static boolean isIpv4Member(byte[] group, String interfaceName) throws IOException {
        // In the byte order of the machine.
        String wanted = "%08X"
                .formatted(ByteBuffer.wrap(group).order(ByteOrder.nativeOrder()).getInt());
        String current = "";
        for (String line : Files.readAllLines(Path.of("/proc/net/igmp"))) {
            String[] words = line.strip().split("\\s+", -1);
            if (!line.startsWith("\t")) {
                current = words.length > 1 ? words[1] : "";
            } else if (current.equals(interfaceName) && words[0].equals(wanted)) {
                return true;
            }
        }
        return false;
    }

    private static boolean isIpv6Member(byte[] group, String interfaceName) throws IOException {
        String wanted = HexFormat.of().formatHex(group);
        return Files.readAllLines(Path.of("/proc/net/igmp6")).stream()
                .map(line -> line.toLowerCase(Locale.ROOT).strip().split("\\s+", -1))
                .anyMatch(words -> words[1].equals(interfaceName) && words[2].equals(wanted));
    }
}

package io.rdma4j.link.host;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.IOException;
import java.net.Inet4Address;
import java.net.InetAddress;
import java.net.NetworkInterface;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

/** The order of addresses, on which the numbers of GIDs depend. */
class AddressOrderTest {
    private static final List<String> PROGRAMS = List.of("/usr/sbin/ip", "/sbin/ip", "/usr/bin/ip", "/bin/ip");

    @Test
    void addressesOfIpv4HaveTheOrderOfTheKernelAndComeFirst() throws Exception {
        for (NetworkInterface network : Interfaces.all()) {
            List<InetAddress> addresses = Interfaces.addresses(network);
            List<String> ofIpv4 = addresses.stream()
                    .filter(Inet4Address.class::isInstance)
                    .map(InetAddress::getHostAddress)
                    .toList();
            assertThat(ofIpv4).isEqualTo(kernelOrder(network.getName()));
            assertThat(addresses.subList(0, ofIpv4.size())).allMatch(Inet4Address.class::isInstance);
        }
    }

    /** Returns what {@code ip} prints, a line for each address: its fourth word is the address with the length of the prefix. */
    private static List<String> kernelOrder(String name) throws IOException {
        String program = PROGRAMS.stream()
                .filter(each -> Files.isExecutable(Path.of(each)))
                .findFirst()
                .orElse("");
        assumeTrue(!program.isEmpty(), "the program ip is installed");
        Process listing = new ProcessBuilder(program, "-o", "-4", "address", "show", "dev", name).start();
        List<String> addresses = new ArrayList<>();
        try (var lines = listing.inputReader()) {
            lines.lines().forEach(line -> addresses.add(line.split("\\s+", -1)[3].replaceAll("/.*", "")));
        }
        return addresses;
    }
}

package io.rdma4j.link.host;

import static org.assertj.core.api.Assertions.assertThat;

import io.rdma4j.link.ChildJava;
import io.rdma4j.link.system.LinkSets;
import java.io.IOException;
import java.net.InetAddress;
import java.util.List;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;

/** The order in which an interface got its addresses, which the lists of Java and of the kernel do not have. */
@Timeout(60)
@EnabledOnOs(OS.LINUX)
class AddressAgeTest {
    /** In this order. The order of the list also differs for IPv4: the third is listed before the second. */
    private static final List<String> ADDED = List.of(
            "192.0.2.9/24",
            "192.0.2.1/24",
            "198.51.100.1/24",
            "2001:db8::3/64",
            "2001:db8::1/64",
            "2001:db8::9/64",
            "2001:db8::4/64");

    /** Runs in a separate network namespace, adds addresses to its interface, and prints the list after each of the last two. */
    static final class Main {
        /** Longer than the unit of the kernel's time of an address, which is a hundredth of a second. */
        private static final long PAUSE_MILLIS = 30;

        private Main() {}

        public static void main(String[] args) throws IOException, InterruptedException {
            if (run("ip link set lo up") != 0) {
                System.out.println("not available");
                return;
            }
            for (String address : ADDED) {
                run("ip address add " + address + " dev lo");
                Thread.sleep(PAUSE_MILLIS); // then the next address has a later time
                System.out.println(oldestFirst());
            }
        }

        private static List<String> oldestFirst() throws IOException {
            InterfaceView loopback = Interfaces.view("lo");
            return LinkSets.addressesOldestFirst(loopback == null ? 0 : loopback.index()).stream()
                    .filter(each -> !each.isLoopbackAddress())
                    .map(InetAddress::getHostAddress)
                    .toList();
        }

        private static int run(String command) throws IOException, InterruptedException {
            return new ProcessBuilder(command.split(" ", -1)).start().waitFor();
        }
    }

    @Test
    void everyAddressFollowsThoseThatTheInterfaceHadBefore() throws Exception {
        List<String> printed =
                ChildJava.run(List.of("unshare", "-rn"), List.of("--enable-native-access=ALL-UNNAMED"), Main.class);
        Assumptions.assumeTrue(printed.getFirst().startsWith("["), printed.toString());
        List<String> all = ADDED.stream()
                .map(each -> InetAddress.ofLiteral(each.substring(0, each.indexOf('/')))
                        .getHostAddress())
                .toList();
        assertThat(printed).hasSameSizeAs(all);
        for (int i = 0; i < all.size(); i++) {
            assertThat(printed.get(i)).isEqualTo(all.subList(0, i + 1).toString());
        }
    }

    @Test
    void anInterfaceThatDoesNotExistHasNoAddresses() {
        assertThat(LinkSets.addressesOldestFirst(Integer.MAX_VALUE)).isEmpty();
    }
}

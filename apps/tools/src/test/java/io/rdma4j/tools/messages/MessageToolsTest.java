package io.rdma4j.tools.messages;

import static org.assertj.core.api.Assertions.assertThat;

import io.rdma4j.tools.ToolRun;
import io.rdma4j.tools.ToolTestSupport;
import io.rdma4j.tools.command.ReceiveTimeout;
import io.rdma4j.tools.command.Tool;
import java.io.IOException;
import java.net.BindException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Tests ucmatose, udaddy and mckey, each against itself in one process. */
class MessageToolsTest {
    private static final String UCMATOSE_SERVER = """
        cmatose: starting server
        initiating data transfers
        completing sends
        receiving data transfers
        data transfers complete
        cmatose: disconnecting
        disconnected
        test complete
        return status 0
        """;
    private static final String UCMATOSE_CLIENT = """
        cmatose: starting client
        cmatose: connecting
        receiving data transfers
        sending replies
        data transfers complete
        test complete
        return status 0
        """;
    private static final String UDADDY_SERVER = """
        udaddy: starting server
        receiving data transfers
        sending replies
        data transfers complete
        test complete
        return status 0
        """;
    private static final String UDADDY_CLIENT = """
        udaddy: starting client
        udaddy: connecting
        initiating data transfers
        receiving data transfers
        data transfers complete
        test complete
        return status 0
        """;

    @BeforeAll
    static void useShortTimeouts() {
        System.setProperty(ReceiveTimeout.PROPERTY, "1500");
        System.setProperty(MckeyRun.PAUSE_PROPERTY, "200");
    }

    @AfterAll
    static void restore() {
        System.clearProperty(ReceiveTimeout.PROPERTY);
        System.clearProperty(MckeyRun.PAUSE_PROPERTY);
    }

    private record Pair(ToolRun server, ToolRun client) {}

    private static Pair pair(Tool tool, String server, String client) throws InterruptedException {
        ToolRun first = ToolRun.start(tool, server).awaitListening();
        ToolRun second = ToolRun.of(tool, client);
        first.status();
        return new Pair(first, second);
    }

    // ---- ucmatose

    @ParameterizedTest
    @ValueSource(
            strings = {
                "",
                "-c 20",
                "-C 3",
                "-C 0",
                "-S 1",
                "-S 0",
                "-S 70000 -C 2",
                "-t 0x10",
                "-a 12",
                "-f ip",
                "-f gid",
                "-f name",
                "-P tcp",
                "-P IB",
                "-m",
                "-m -c 5"
            })
    void ucmatoseExchangesMessages(String options) throws InterruptedException {
        String address = ToolTestSupport.loopback();
        String same = options + ToolTestSupport.port();
        boolean some = !options.contains("-C 0") && !options.contains("-S 0");
        Pair pair = pair(new Ucmatose(), "-b " + address + " " + same, "-s " + address + " " + same);
        assertThat(pair.server.status()).as(pair.server.err()).isZero();
        assertThat(pair.client.status()).as(pair.client.err()).isZero();
        assertThat(pair.server.err() + pair.client.err()).isEmpty();
        if (some && !options.contains("-m")) {
            assertThat(pair.server.out()).isEqualTo(UCMATOSE_SERVER);
            assertThat(pair.client.out()).isEqualTo(UCMATOSE_CLIENT);
        }
        if (options.contains("-m")) {
            assertThat(pair.server.out()).contains("migrating to new event channel\ncmatose: disconnecting\n");
            assertThat(pair.client.out()).contains("migrating to new event channel\ntest complete\n");
        }
    }

    @Test
    void ucmatoseBindsTheClientAndSupportsIpv6() throws InterruptedException {
        String port = ToolTestSupport.port();
        Pair pair = pair(new Ucmatose(), "-b ::1 -f ip" + port, "-s ::1 -b ::1 -f ipv6" + port);
        assertThat(pair.client.out()).isEqualTo(UCMATOSE_CLIENT);
        assertThat(pair.server.out()).isEqualTo(UCMATOSE_SERVER);
    }

    @ParameterizedTest
    @CsvSource({"-C 10,-C 5", "-C 5,-C 10", "-c 2,-c 1", "-c 1,-c 2", "-S 100,-S 200"})
    void differentCountsEndBothSidesWithAMessage(String server, String client) throws InterruptedException {
        String address = ToolTestSupport.loopback();
        String port = ToolTestSupport.port();
        Pair pair = pair(new Ucmatose(), "-b " + address + " " + server + port, "-s " + address + " " + client + port);
        String output = pair.server.err() + pair.client.err();
        assertThat(pair.server.status()).as(output).isNotZero();
        // The client has no failure to report if all its messages were received and acknowledged.
        assertThat(pair.client.status() == 0)
                .as(output)
                .isEqualTo(server.equals("-C 10") && pair.client.err().isEmpty());
        assertThat(output).containsIgnoringCase("the same -c");
        assertThat(pair.server.out()).contains("test complete\nreturn status ");
        assertThat(pair.client.out()).contains("test complete\nreturn status ");
    }

    @Test
    void ucmatoseReportsAMissingServer() throws InterruptedException {
        String address = ToolTestSupport.loopback();
        ToolRun server = ToolRun.start(new Ucmatose(), "-b " + address + " -p 2001")
                .awaitListening(); // the service exists on another port
        ToolRun client = ToolRun.of(new Ucmatose(), "-s " + address + " -p 2002");
        assertThat(client.status()).isEqualTo(8);
        assertThat(client.out())
                .contains("cmatose: event: RDMA_CM_EVENT_REJECTED, error: 8\ntest complete\nreturn status 8\n");
        assertThat(client.err()).contains("nobody listens on port 2002");
        ToolRun found = ToolRun.of(new Ucmatose(), "-s " + address + " -p 2001");
        assertThat(found.status() + server.status()).isZero();
    }

    @Test
    void portInUseIsReported() throws InterruptedException {
        String address = ToolTestSupport.loopback();
        String port = ToolTestSupport.port();
        ToolRun first = ToolRun.start(new Ucmatose(), "-b " + address + port);
        ToolRun second = ToolRun.start(new Ucmatose(), "-b " + address + port);
        while (!first.hasEnded() && !second.hasEnded()) {
            Thread.sleep(10);
        }
        ToolRun refused = first.hasEnded() ? first : second;
        ToolRun other = first.hasEnded() ? second : first;
        assertThat(refused.status()).isEqualTo(-1);
        assertThat(refused.err()).startsWith("cmatose: bind address failed: Address already in use\n");
        other.awaitListening();
        ToolRun client = ToolRun.of(new Ucmatose(), "-s " + address + port);
        assertThat(client.status()).as(client.out() + client.err()).isZero();
        assertThat(other.status()).isZero();
    }

    // ---- udaddy

    @ParameterizedTest
    @ValueSource(strings = {"", "-c 6", "-C 3", "-C 0", "-S 1024", "-t 8", "-P ipoib", "-p 0x111", "-p 2", "-f ip"})
    void udaddyExchangesDatagrams(String options) throws InterruptedException {
        String address = ToolTestSupport.loopback();
        Pair pair = pair(new Udaddy(), "-b " + address + " " + options, "-s " + address + " " + options);
        assertThat(pair.server.status()).as(pair.server.err()).isZero();
        assertThat(pair.client.status()).as(pair.client.err()).isZero();
        if (!options.contains("-C 0")) {
            assertThat(pair.server.out()).isEqualTo(UDADDY_SERVER);
            assertThat(pair.client.out()).isEqualTo(UDADDY_CLIENT);
        }
    }

    @Test
    void udaddySupportsIpv6() throws InterruptedException, IOException {
        try (ServerSocket _ = awaitTurn(new InetSocketAddress(InetAddress.ofLiteral("::1"), 7174))) {
            Pair pair = pair(new Udaddy(), "-b ::1", "-s ::1 -b ::1");
            assertThat(pair.client.out()).isEqualTo(UDADDY_CLIENT);
            assertThat(pair.server.out()).isEqualTo(UDADDY_SERVER);
        }
    }

    /**
     * Waits until no other process runs udaddy at an address. The demonstrations of other tests take turns in the same
     * way, because udaddy's port is fixed.
     */
    private static ServerSocket awaitTurn(InetSocketAddress service) throws InterruptedException, IOException {
        ServerSocket turn = new ServerSocket();
        while (!turn.isBound()) {
            try {
                turn.bind(service);
            } catch (BindException inUse) {
                Thread.sleep(20);
            }
        }
        return turn;
    }

    @Test
    void udaddyRejectsMessagesThatAreTooLong() throws InterruptedException {
        String address = ToolTestSupport.loopback();
        ToolRun server = ToolRun.start(new Udaddy(), "-b " + address).awaitListening();
        ToolRun client = ToolRun.of(new Udaddy(), "-s " + address + " -S 4097");
        assertThat(client.status()).isEqualTo(-22);
        assertThat(client.out())
                .contains("udaddy: message_size 4097 is larger than active mtu 4096\n")
                .endsWith("return status -22\n");
        ToolRun.of(new Udaddy(), "-s " + address);
        assertThat(server.status()).isZero();
    }

    @ParameterizedTest
    @CsvSource({"-C 10,-C 5", "-C 5,-C 10", "-c 1,-c 2"})
    void udaddyWithDifferentCountsEndsWithAMessage(String server, String client) throws InterruptedException {
        String address = ToolTestSupport.loopback();
        Pair pair = pair(new Udaddy(), "-b " + address + " " + server, "-s " + address + " " + client);
        assertThat(pair.server.status() == 0 && pair.client.status() == 0).isFalse();
        assertThat(pair.server.err() + pair.client.err()).contains("the same -c");
    }

    // ---- mckey

    @ParameterizedTest
    @CsvSource({
        "-m 239.77.1.1,127.0.0.1,",
        "-m 239.77.1.2,127.0.0.1,-C 3",
        "-m 239.77.1.3,127.0.0.1,-c 3 -C 4",
        "-m 239.77.1.4,127.0.0.1,-S 4096",
        "-m 239.77.1.5,127.0.0.1,-p 0x2",
        "-m 239.77.1.7,127.0.0.1,-l",
        "-M ::ffff:239.77.1.6,127.0.0.1,"
    })
    void mckeyReachesTwoReceivers(String group, String address, String more) throws InterruptedException {
        String options = group + " -b " + address + (more == null ? "" : " " + more);
        ToolRun first = ToolRun.start(new Mckey(), options);
        ToolRun second = ToolRun.start(new Mckey(), options);
        while (!first.out().contains("receiving data") || !second.out().contains("receiving data")) {
            assertThat(first.hasEnded() || second.hasEnded())
                    .as(first.err() + second.err())
                    .isFalse();
            Thread.sleep(10);
        }
        // A receiver with several members receives the sender's messages in each.
        ToolRun sender = ToolRun.of(new Mckey(), options.replaceAll("-c \\d+", "") + " -s");
        assertThat(sender.status()).as(sender.err()).isZero();
        assertThat(first.status()).as(first.err()).isZero();
        assertThat(second.status()).as(second.err()).isZero();
        assertThat(sender.out())
                .contains("mckey: starting client\nmckey: joining\nmckey: joined dgid: ")
                .endsWith("initiating data transfers\ndata transfers complete\ntest complete\nreturn status 0\n");
        assertThat(first.out())
                .endsWith("receiving data transfers\ndata transfers complete\ntest complete\nreturn status 0\n");
    }

    @Test
    void mckeySendsWithoutBeingAMember() throws InterruptedException {
        ToolRun receiver = ToolRun.start(new Mckey(), "-m 239.77.2.1 -b 127.0.0.1");
        while (!receiver.out().contains("receiving data")) {
            Thread.sleep(10);
        }
        ToolRun sender = ToolRun.of(new Mckey(), "-m 239.77.2.1 -b 127.0.0.1 -s -o");
        assertThat(sender.status()).as(sender.err()).isZero();
        assertThat(receiver.status()).as(receiver.err()).isZero();
    }

    @ParameterizedTest
    @ValueSource(strings = {"-m 239.77.2.9 -b 203.0.113.77 -c 3", "-m 239.77.2.9 -b 127.0.0.1 -S 99999 -c 3"})
    void mckeyLeavesOnlyJoinedGroups(String words) throws InterruptedException {
        ToolRun run = ToolRun.of(new Mckey(), words);
        assertThat(run.status()).isNotZero();
        assertThat(run.out() + run.err()).doesNotContain("leaving");
    }

    @Test
    void mckeyReportsMissingMessages() throws InterruptedException {
        ToolRun receiver = ToolRun.start(new Mckey(), "-m 239.77.2.2 -b 127.0.0.1 -C 5");
        while (!receiver.out().contains("receiving data")) {
            Thread.sleep(10);
        }
        ToolRun.of(new Mckey(), "-m 239.77.2.2 -b 127.0.0.1 -s -C 3");
        assertThat(receiver.status()).isEqualTo(-110);
        assertThat(receiver.err()).contains("3 of 5 messages");
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "-m 127.0.0.9 -b 127.0.0.1 | is not a multicast address",
                "-m 239.77.3.1 -b 127.0.0.1 -S 4097 | message_size 4097 is larger than active mtu 4096",
                "-m 0.0.0.0 -b 127.0.0.1 | Only the subnet manager of an InfiniBand network chooses groups",
                "-M 0 -b 127.0.0.1 | Only the subnet manager of an InfiniBand network chooses groups",
                "-M ff0e::1 | unmapped multicast address requires binding to source address",
                "-m no.such.host.invalid -b 127.0.0.1 | getaddrinfo failed",
                "-m 239.77.3.1 -b 203.0.113.77 | addr bind failure",
                "-m ff05::77 -b ::1 | Linux delivers no IPv6 groups on loopback interfaces",
                "-s | -m must name a group"
            })
    void mckeyExplainsFailures(String words, String explanation) throws InterruptedException {
        ToolRun run = ToolRun.of(new Mckey(), words);
        assertThat(run.status() & 0xff).isNotZero();
        assertThat(run.out() + run.err()).contains(explanation);
    }

    // ---- all tools

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "-x | invalid option -- 'x'",
                "-c | option requires an argument -- 'c'",
                "-s no.such.host.invalid | rdma_getaddrinfo error",
                "-s no.such.host -f ip | rdma_getaddrinfo error",
                "-f other -s no.such.host.invalid | Warning: unknown address format",
                "-P other -s no.such.host.invalid | Warning: unknown port space format",
                "-b 203.0.113.77 | bind address failed",
                "-c 0 | -c must be at least 1"
            })
    void invalidOptionsAreExplained(String words, String explanation) throws InterruptedException {
        for (Tool tool : new Tool[] {new Ucmatose(), new Udaddy()}) {
            ToolRun run = ToolRun.of(tool, words);
            assertThat(run.status() & 0xff).as(tool.name()).isNotZero();
            assertThat(run.out() + run.err()).contains(explanation);
            if (words.contains("-x")) {
                assertThat(run.out()).startsWith("usage: " + tool.name() + "\n\t[-s server_address]\n");
            }
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"ucmatose", "udaddy", "mckey"})
    void helpHasExamples(String name) throws InterruptedException {
        Tool tool = name.equals("ucmatose") ? new Ucmatose() : name.equals("udaddy") ? new Udaddy() : new Mckey();
        ToolRun run = ToolRun.of(tool, "--help");
        assertThat(run.status()).isZero();
        assertThat(run.out()).contains("examples:", "--pcap", "--json");
    }
}

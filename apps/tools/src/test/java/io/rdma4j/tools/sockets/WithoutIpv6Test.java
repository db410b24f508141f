package io.rdma4j.tools.sockets;

import static org.assertj.core.api.Assertions.assertThat;

import io.rdma4j.tools.ToolTestSupport;
import io.rdma4j.tools.command.ToolProcess;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CopyOnWriteArrayList;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Tests of the socket tools on a host without IPv6. */
@Timeout(120)
class WithoutIpv6Test {
    /** With this option, Java behaves as on a host without IPv6. */
    private static final Map<String, String> NO_IPV6 = Map.of("JDK_JAVA_OPTIONS", "-Djava.net.preferIPv4Stack=true");

    private static final long TIMEOUT_SECONDS = 60;

    private final List<String> lines = new CopyOnWriteArrayList<>();

    private ToolProcess start(String words) {
        return ToolProcess.startWithInput(
                List.of((words + " --no-warm-up").split(" ")), NO_IPV6, lines::add, lines::add);
    }

    @ParameterizedTest
    @CsvSource({
        "udpong -s ::1, rconnect: Address family not supported by protocol",
        "udpong -s ::1 -T s, rsocket failed: Address family not supported by protocol",
        "udpong -b ::1 -T s, rsocket failed: Address family not supported by protocol",
        "rstream -s ::1 -T s, rsocket failed: Address family not supported by protocol",
        "rstream -b :: -T s, rsocket failed: Address family not supported by protocol",
        "rstream -s ::1, rconnect: Network is unreachable"
    })
    void anIpv6AddressIsRejected(String words, String message) throws InterruptedException {
        try (ToolProcess tool = start(words)) {
            assertThat(tool.await(TIMEOUT_SECONDS)).as(lines.toString()).isEqualTo(255);
        }
        assertThat(lines)
                .contains(message)
                .anyMatch(line -> line.contains("IPv6"))
                .noneMatch(line -> line.contains("Exception"));
    }

    @ParameterizedTest
    @ValueSource(strings = {"ib_send_bw ::1", "ib_send_bw --ipv6 ::1", "ib_send_bw --ipv6"})
    void aPerftestOverIpv6IsRejected(String words) throws InterruptedException {
        try (ToolProcess tool = start(words)) {
            assertThat(tool.await(TIMEOUT_SECONDS)).as(lines.toString()).isEqualTo(1);
        }
        assertThat(lines).anyMatch(line -> line.contains("Address family not supported by protocol"));
    }

    @Test
    void cmtimeOverIpv6SocketsIsRejectedWithAMessage() throws InterruptedException {
        try (ToolProcess tool = start("cmtime -S -L -b ::1 -C 127.0.0.1" + ToolTestSupport.port())) {
            assertThat(tool.await(TIMEOUT_SECONDS)).as(lines.toString()).isEqualTo(1);
        }
        assertThat(lines).noneMatch(line -> line.contains("Exception"));
        // Standard output and standard error arrive in no particular order.
        assertThat(lines).anyMatch(line -> line.startsWith("socket: Address family not supported by protocol"));
    }

    @Test
    void cmtimeWithAnIpv6ServerEndsWithAMessage() throws InterruptedException {
        String rest = " -C 127.0.0.1 -c 3" + ToolTestSupport.port();
        List<String> told = new CopyOnWriteArrayList<>();
        try (ToolProcess server = ToolTestSupport.process("cmtime -S -L -b ::1" + rest, told)) {
            ToolTestSupport.await(told, "OOB root");
            try (ToolProcess client = start("cmtime -S -b 127.0.0.1" + rest)) {
                assertThat(client.await(TIMEOUT_SECONDS)).as(lines + " " + told).isEqualTo(1);
            }
            assertThat(server.await(TIMEOUT_SECONDS)).as(told.toString()).isEqualTo(1);
        }
        assertThat(lines).noneMatch(line -> line.contains("Exception"));
        // Standard output and standard error arrive in no particular order.
        assertThat(lines).anyMatch(line -> line.startsWith("socket: Address family not supported by protocol"));
    }

    @ParameterizedTest
    @ValueSource(strings = {"", " -T s"})
    void aDatagramServerListensOnAllIpv4Addresses(String over) throws Exception {
        int portNumber = ToolTestSupport.portNumber();
        String port = " -p " + portNumber;
        try (ToolProcess server = start("udpong" + port + over)) {
            ToolTestSupport.awaitUdpPort(server, "127.0.0.1", portNumber);
            assertThat(server.isAlive()).as(lines.toString()).isTrue();
            List<String> client = new CopyOnWriteArrayList<>();
            try (ToolProcess once = ToolTestSupport.process("udpong -C 3 -T e -s 127.0.0.1" + port + over, client)) {
                assertThat(once.await(TIMEOUT_SECONDS)).as(client + " " + lines).isZero();
            }
        }
        assertThat(lines).contains("client login from 127.0.0.1");
    }
}

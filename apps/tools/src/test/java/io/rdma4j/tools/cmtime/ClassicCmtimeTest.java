package io.rdma4j.tools.cmtime;

import static org.assertj.core.api.Assertions.assertThat;

import io.rdma4j.tools.ToolRun;
import io.rdma4j.tools.ToolTestSupport;
import io.rdma4j.tools.command.ToolProcess;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.DisabledOnOs;
import org.junit.jupiter.api.condition.OS;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Tests the classic form of cmtime. Its server runs until it is stopped, so it runs in a separate process. */
class ClassicCmtimeTest {
    private static final String HEADER = "step              total ms     max ms     min us  us / conn\n";
    private static final String NUMBERS = ": ( *\\d+\\.\\d\\d){4}\n";

    private static String table(boolean bound) {
        return "\\Q" + HEADER + "\\E"
                + "create id    " + NUMBERS
                + (bound ? "bind addr    " + NUMBERS : "")
                + "resolve addr " + NUMBERS
                + "resolve route" + NUMBERS
                + "create qp    " + NUMBERS
                + "connect      " + NUMBERS
                + "disconnect   " + NUMBERS
                + "destroy      " + NUMBERS;
    }

    private static String lines(boolean bound) {
        return "creating id\n" + (bound ? "binding source address\n" : "")
                + "resolving address\nresolving route\ncreating qp\nconnecting\ndisconnecting\ndestroying id\n"
                + table(bound);
    }

    private static ToolRun client(String address, String words) throws InterruptedException {
        return ToolRun.of(new Cmtime(), "--classic -s " + address + " " + words);
    }

    /** Runs a client again until the server listens, which the server does not report. */
    private static ToolRun retryingClient(String address, String words) throws InterruptedException {
        ToolRun run = client(address, words);
        for (int tries = 0; tries < 100 && run.out().contains("error: 8\n"); tries++) {
            Thread.sleep(50);
            run = client(address, words);
        }
        return run;
    }

    /** Stops a server like Ctrl-C. */
    private static void interrupt(ToolProcess process) throws InterruptedException, IOException {
        assertThat(process.isAlive()).isTrue();
        new ProcessBuilder("kill", "-INT", Long.toString(process.pid())).start().waitFor();
        assertThat(process.await(20)).isEqualTo(130);
    }

    @DisabledOnOs(OS.WINDOWS)
    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "127.0.0.1 | | -c 10",
                "127.0.0.1 | -p 18471 -c 5 | -p 18471 -c 1",
                "127.0.0.1 | -r 0 -t 10 | -b 127.0.0.1 -r 3 -t 500 -c 2",
                "::1 | | -b ::1 -c 20",
                "127.0.0.1 | --device soft | -c 1000"
            })
    void connectionsAreOpenedAndTimed(String address, String server, String client)
            throws InterruptedException, IOException {
        List<String> output = new ArrayList<>();
        List<String> words = new ArrayList<>(List.of("cmtime", "--classic", "-b", address));
        if (server != null) {
            words.addAll(List.of(server.split(" ")));
        }
        try (ToolProcess process = ToolProcess.start(words, output::add, output::add)) {
            ToolRun run = retryingClient(address, client);
            assertThat(run.status()).as(run.err()).isZero();
            assertThat(run.out()).matches(lines(client.contains("-b")));
            assertThat(client(address, client.replaceAll("-c \\d+", "")).status())
                    .isZero();
            interrupt(process);
        }
        assertThat(output).isEmpty();
    }

    @DisabledOnOs(OS.WINDOWS)
    @Test
    void serverReportsItsCounts() throws InterruptedException, IOException {
        String address = ToolTestSupport.loopback();
        List<String> output = new ArrayList<>();
        List<String> words = List.of("cmtime", "--classic", "--json", "-b", address);
        try (ToolProcess process = ToolProcess.start(words, output::add, output::add)) {
            assertThat(retryingClient(address, "-c 7").status()).isZero();
            interrupt(process);
        }
        assertThat(String.join("\n", output))
                .contains("\"accepted\": 7,", "\"form\": \"classic\"", "\"role\": \"server\"");
    }

    @Test
    void clientReportsItsFigures() throws InterruptedException {
        String address = ToolTestSupport.loopback();
        List<String> words = List.of("cmtime", "--classic", "-b", address);
        try (ToolProcess process = ToolProcess.start(words, line -> {}, line -> {})) {
            retryingClient(address, "-c 1");
            ToolRun run = client(address, "-c 3 --json");
            assertThat(run.status()).isZero();
            assertThat(run.out()).contains("\"failed\": 0", "\"step\": \"destroy\"", "\"connections\": 3");
            assertThat(process.isAlive()).isTrue();
        }
    }

    /** The C tool exits with status 0. */
    @Test
    void clientWithoutServerFails() throws InterruptedException {
        int port = ToolTestSupport.portNumber();
        ToolRun run = client("127.0.0.1", "-c 2 -p " + port);
        assertThat(run.status()).isEqualTo(1);
        assertThat(run.out())
                .contains("connecting\nevent: RDMA_CM_EVENT_REJECTED, error: 8\n")
                .endsWith("\n")
                .contains(HEADER);
        assertThat(run.err()).contains("nobody listens on port " + port);
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "-x | invalid option -- 'x'",
                "-C 127.0.0.1 | invalid option -- 'C'",
                "-c | option requires an argument -- 'c'",
                "-c 0 | -c and -t must be at least 1"
            })
    void invalidOptionsPrintTheUsage(String words, String explanation) throws InterruptedException {
        ToolRun run = ToolRun.of(new Cmtime(), "--classic " + words);
        assertThat(run.status()).isEqualTo(1);
        assertThat(run.err()).contains(explanation);
        assertThat(run.out()).isEqualTo("""
            usage: cmtime
            \t[-s server_address]
            \t[-b bind_address]
            \t[-c connections]
            \t[-p port_number]
            \t[-r retries]
            \t[-t timeout_ms]
            """);
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "-s no.such.host.invalid | getaddrinfo error: ",
                "-b no.such.host.invalid | getrdmaaddr error: ",
                "-b 203.0.113.77 | bind address failed: Cannot assign requested address",
                "-s 127.0.0.1 -b 203.0.113.77 -c 2 | failure bind addr: Cannot assign requested address",
                "-s 127.0.0.1 -p 70000 | getaddrinfo error: "
            })
    void invalidAddressesAreExplained(String words, String explanation) throws InterruptedException {
        ToolRun run = ToolRun.of(new Cmtime(), "--classic " + words);
        assertThat(run.status() & 0xff).isNotZero();
        assertThat(run.out() + run.err()).contains(explanation);
    }
}

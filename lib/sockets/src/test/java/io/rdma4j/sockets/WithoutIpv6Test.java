package io.rdma4j.sockets;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Channels without an address family use IPv4 if Java or the host has no IPv6, like the platform's channels. */
@Timeout(120)
@EnabledOnOs(OS.LINUX)
class WithoutIpv6Test {
    private static final List<String> ALL = List.of(
            "server: 0.0.0.0 127.0.0.1 read 42",
            "server, null: 0.0.0.0 127.0.0.1 read 42",
            "client: 0.0.0.0",
            "asynchronous: 0.0.0.0");

    private static List<String> run(List<String> prefix, String transport, String... options)
            throws IOException, InterruptedException {
        List<String> command = new ArrayList<>(prefix);
        command.addAll(List.of(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "--enable-native-access=ALL-UNNAMED",
                "-XX:+UseSerialGC",
                "-XX:TieredStopAtLevel=1"));
        command.addAll(List.of(options));
        command.addAll(List.of(
                "-cp", TestClassPath.of(WithoutIpv6Process.class), WithoutIpv6Process.class.getName(), transport));
        Process process = new ProcessBuilder(command).redirectErrorStream(true).start();
        try {
            String output = new String(process.getInputStream().readAllBytes(), UTF_8);
            int _ = process.waitFor();
            return output.lines().toList();
        } finally {
            process.destroyForcibly();
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"rdma", "either", "tcp"})
    void wildcardAddressIsIpv4IfJavaPrefersIpv4(String transport) throws Exception {
        assertThat(run(List.of(), transport, "-Djava.net.preferIPv4Stack=true")).containsAll(ALL);
    }

    @Test
    void wildcardAddressIsIpv4IfTheKernelHasNoIpv6() throws Exception {
        String prepare = "ip link set lo up && sysctl -qw net.ipv6.conf.all.disable_ipv6=1"
                + " net.ipv6.conf.lo.disable_ipv6=1 && echo prepared && exec \"$@\"";
        List<String> said = run(List.of("unshare", "-rn", "sh", "-c", prepare, "sh"), "either");
        assumeTrue(said.contains("prepared"), "no network namespace without IPv6 can be made here: " + said);
        assertThat(said).containsAll(ALL);
    }
}

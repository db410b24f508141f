package io.rdma4j.sockets;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.channels.spi.SelectorProvider;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;
import org.junit.jupiter.api.io.TempDir;

/**
 * Tests with Java runtimes that lack the modules {@code jdk.net} and {@code jdk.unsupported}, such as {@code java -m}
 * and small images.
 */
@Timeout(120)
@EnabledOnOs(OS.LINUX)
class LimitedModulesTest {
    private static final String PROVIDER =
            "-D" + SelectorProvider.class.getName() + "=" + RdmaSelectorProvider.class.getName();
    private static final String NATIVE = "--enable-native-access=ALL-UNNAMED";

    @TempDir
    @SuppressWarnings("NullAway.Init")
    Path folder;

    private int runs;

    /** Runs {@link LimitedModulesProcess} with only the module {@code java.base}, and returns its output. */
    private List<String> run(String arguments, String... options) throws IOException, InterruptedException {
        List<String> all = new ArrayList<>(List.of("--limit-modules", "java.base"));
        all.addAll(List.of(options));
        return runAny(arguments, all);
    }

    private List<String> runAny(String arguments, List<String> options) throws IOException, InterruptedException {
        List<String> command = new ArrayList<>(List.of(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "-XX:+UseSerialGC",
                "-XX:TieredStopAtLevel=1",
                "-Djdk.system.logger.level=WARNING", // of java.base alone
                "-Djava.util.logging.config.file=" + Files.createFile(folder.resolve("logging" + ++runs))));
        command.addAll(options);
        command.addAll(
                List.of("-cp", TestClassPath.of(LimitedModulesProcess.class), LimitedModulesProcess.class.getName()));
        command.addAll(List.of(arguments.split(" ")));
        Process process = new ProcessBuilder(command).redirectErrorStream(true).start();
        try {
            String output = new String(process.getInputStream().readAllBytes(), UTF_8);
            int _ = process.waitFor();
            return output.lines().toList();
        } finally {
            process.destroyForcibly();
        }
    }

    private static final List<String> ALL =
            List.of("127.0.0.1 rdma: read 42", "127.0.0.1 tcp: read 42", "::1 rdma: read 42", "::1 tcp: read 42");

    @Test
    void singleChannelsNeedNoOtherModule() throws Exception {
        assertThat(run("own", NATIVE)).isEqualTo(ALL);
    }

    @Test
    void providerOfTheJvmNeedsTheExportedPackageOnlyForTcp() throws Exception {
        assertThat(run("jvm", PROVIDER, NATIVE, "--add-exports=java.base/sun.nio.ch=ALL-UNNAMED"))
                .isEqualTo(ALL);
        List<String> without = run("jvm", PROVIDER, NATIVE);
        assertThat(without.get(0)).isEqualTo("127.0.0.1 rdma: read 42");
        assertThat(without.get(1)).contains("--add-modules jdk.unsupported");
        assertThat(without.get(2)).isEqualTo("::1 rdma: read 42");
        assertThat(without.get(3)).contains("--add-modules jdk.unsupported");
    }

    @Test
    void portableLinkReachesIpv6AndNamesTheModuleThatIpv4Needs() throws Exception {
        List<String> said = run("own", "-Drdma4j.link=nio");
        assertThat(said.get(0)).contains("--add-modules jdk.net");
        assertThat(said.subList(1, 4)).isEqualTo(ALL.subList(1, 4));
    }

    @Test
    void portableLinkWaitsAtASelectorOfThePlatformIfTheJvmsProviderIsRdmaSockets() throws Exception {
        assertThat(runAny("jvm selector", List.of(PROVIDER, "-Drdma4j.link=nio")))
                .startsWith(ALL.toArray(String[]::new))
                .endsWith("device waits at a selector of the platform");
    }
}

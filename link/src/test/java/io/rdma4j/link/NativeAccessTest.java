package io.rdma4j.link;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;

/** A user who has not enabled native access gets NIO, and no word of warning from Java. */
@Timeout(60)
class NativeAccessTest {
    /** Started by the tests: says which link sets there are. */
    static final class Main {
        private Main() {}

        public static void main(String[] args) throws IOException {
            try (LinkSet best = LinkSets.best();
                    Link link = best.openUdp(java.net.InetAddress.ofLiteral("127.0.0.1"), 0)) {
                System.out.println(best.name() + " " + (link.localAddress().getPort() > 0));
            }
            try (LinkSet linux = LinkSets.open("linux")) {
                System.out.println(linux.name());
            } catch (IOException e) {
                System.out.println(e.getMessage());
            }
        }
    }

    private static List<String> run(String... options) throws Exception {
        List<String> command = new ArrayList<>(
                List.of(Path.of(System.getProperty("java.home"), "bin", "java").toString()));
        command.addAll(List.of(options));
        command.addAll(List.of("-cp", classPath(), Main.class.getName()));
        Process java = new ProcessBuilder(command).redirectErrorStream(true).start();
        String output = new String(java.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        assertThat(java.waitFor(30, TimeUnit.SECONDS)).isTrue();
        return output.lines().toList();
    }

    /** Folders or archives of this room, its tests and the wire room. */
    private static String classPath() throws Exception {
        List<String> paths = new ArrayList<>();
        for (Class<?> type : List.of(LinkSets.class, io.rdma4j.wire.Frame.class)) {
            paths.add(Path.of(type.getProtectionDomain()
                            .getCodeSource()
                            .getLocation()
                            .toURI())
                    .toString());
        }
        paths.add(Path.of(paths.getFirst()).resolveSibling("test-classes").toString());
        return String.join(java.io.File.pathSeparator, paths);
    }

    @Test
    void withoutNativeAccessTheBestIsNioAndNothingIsWarnedOf() throws Exception {
        List<String> lines = run();
        assertThat(lines).hasSize(2);
        assertThat(lines.get(0)).isEqualTo("nio true");
        assertThat(lines.get(1)).contains("'linux'");
    }

    @Test
    @EnabledOnOs(OS.LINUX)
    void askingForLinuxWithoutNativeAccessSaysHowToEnableIt() throws Exception {
        assertThat(run("--illegal-native-access=deny").get(1)).contains("--enable-native-access=ALL-UNNAMED");
    }

    @Test
    @EnabledOnOs(OS.LINUX)
    void withNativeAccessTheBestIsLinuxAndNothingIsWarnedOf() throws Exception {
        assertThat(run("--enable-native-access=ALL-UNNAMED", "--illegal-native-access=deny"))
                .containsExactly("linux true", "linux");
    }
}

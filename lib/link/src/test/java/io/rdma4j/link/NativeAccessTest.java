package io.rdma4j.link;

import static org.assertj.core.api.Assertions.assertThat;

import io.rdma4j.link.system.LinkSets;
import java.io.IOException;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;

/** Without native access, NIO is used and Java prints no warning. */
@Timeout(60)
class NativeAccessTest {
    /** Started by the tests; prints which link sets are available. */
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
        return ChildJava.run(List.of(), List.of(options), Main.class);
    }

    @Test
    void withoutNativeAccessTheBestIsNioAndNoWarningIsPrinted() throws Exception {
        List<String> lines = run();
        assertThat(lines).hasSize(2);
        assertThat(lines.get(0)).isEqualTo("nio true");
        assertThat(lines.get(1)).contains("'linux'");
    }

    @Test
    @EnabledOnOs(OS.LINUX)
    void openingLinuxWithoutNativeAccessReportsHowToEnableIt() throws Exception {
        assertThat(run("--illegal-native-access=deny").get(1)).contains("--enable-native-access=ALL-UNNAMED");
    }

    @Test
    @EnabledOnOs(OS.LINUX)
    void withNativeAccessTheBestIsLinuxAndNoWarningIsPrinted() throws Exception {
        assertThat(run("--enable-native-access=ALL-UNNAMED", "--illegal-native-access=deny"))
                .containsExactly("linux true", "linux");
    }
}

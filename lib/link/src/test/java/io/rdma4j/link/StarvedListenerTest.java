package io.rdma4j.link;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** A process without descriptors refuses processes that connect, and its waits block. */
@Timeout(60)
@EnabledOnOs(OS.LINUX)
class StarvedListenerTest {
    @TempDir
    @SuppressWarnings("NullAway.Init")
    Path folder;

    private List<String> run(String kind, int free) throws Exception {
        Files.createFile(folder.resolve("file"));
        List<String> wrapper = new ArrayList<>(List.of(
                "sh", "-c", "ulimit -n 64; exec \"$@\" " + kind + " " + folder.resolve("s.sock") + " " + free, "sh"));
        List<String> lines = ChildJava.run(
                wrapper,
                List.of("--enable-native-access=ALL-UNNAMED", "-XX:-MaxFDLimit"),
                StarvedListenerProcess.class);
        return lines.subList(lines.indexOf("begin") + 1, lines.size());
    }

    /** The listener and its reserve. */
    @ParameterizedTest
    @MethodSource("io.rdma4j.link.LinkKinds#all")
    void processThatConnectsReceivesTheRefusal(String kind) throws Exception {
        assertThat(run(kind, 2)).containsExactly("accepted false", "waits few", "refused by 77");
    }

    /** The listener alone. */
    @ParameterizedTest
    @MethodSource("io.rdma4j.link.LinkKinds#all")
    void connectionWaitsWithoutABusyLoopIfTheReserveIsAlsoGone(String kind) throws Exception {
        assertThat(run(kind, 1)).containsExactly("accepted false", "waits few", "accepted later");
    }
}

package io.rdma4j.programs;

import static org.assertj.core.api.Assertions.assertThat;

import io.rdma4j.harness.LineProcess;
import io.rdma4j.programs.peer.PeerMain;
import java.io.File;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

class ProgramsTest {
    @Test
    void namesAreDistinct() {
        assertThat(Programs.ALL).extracting(Program::name).doesNotHaveDuplicates();
    }

    @Test
    void theClassPathOfTheProgramsHasEachOfThemAndNoModuleOfThisProject() throws Exception {
        assertThat(Programs.ALL).allSatisfy(each -> assertThat(each.version()).matches("\\d.*"));
        List<String> words = Programs.ALL.getFirst().client(7471, Pace.QUICK);
        List<URL> path = new ArrayList<>();
        for (String entry : words.get(words.indexOf("-cp") + 1).split(File.pathSeparator, -1)) {
            path.add(Path.of(entry).toUri().toURL());
        }
        try (URLClassLoader loader =
                new URLClassLoader(path.toArray(URL[]::new), ClassLoader.getPlatformClassLoader())) {
            assertThat(loader.getResource(resource(PeerMain.class))).isNotNull();
            assertThat(loader.getResource(resource(LineProcess.class))).isNull();
        }
    }

    private static String resource(Class<?> type) {
        return type.getName().replace('.', '/') + ".class";
    }

    @Test
    void aCommandOverRdmaIsThatOverTcpBehindTheLauncher() {
        var words = Programs.ALL.getFirst().server().words(Programs.ALL.getFirst(), 7471, Path.of("folder"));
        var overRdma = Transport.RDMA.command(words);

        assertThat(overRdma.subList(1, 3)).containsExactly("run", "--");
        assertThat(overRdma.subList(3, overRdma.size())).isEqualTo(Transport.TCP.command(words));
    }
}

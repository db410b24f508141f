package io.rdma4j.programs;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Path;
import org.junit.jupiter.api.Test;

class ProgramsTest {
    @Test
    void namesAreDistinct() {
        assertThat(Programs.ALL).extracting(Program::name).doesNotHaveDuplicates();
    }

    @Test
    void theClassPathOfTheProgramsHasEachOfThemAndNoModuleOfThisProject() {
        assertThat(Programs.ALL).allSatisfy(each -> assertThat(each.version()).matches("\\d.*"));
        assertThat(System.getProperty("java.class.path")).doesNotContain("rdma4j-sockets");
    }

    @Test
    void aCommandOverRdmaIsThatOverTcpBehindTheLauncher() {
        var words = Programs.ALL.getFirst().server().words(Programs.ALL.getFirst(), 7471, Path.of("folder"));
        var overRdma = Transport.RDMA.command(words);

        assertThat(overRdma.subList(1, 3)).containsExactly("run", "--");
        assertThat(overRdma.subList(3, overRdma.size())).isEqualTo(Transport.TCP.command(words));
    }
}

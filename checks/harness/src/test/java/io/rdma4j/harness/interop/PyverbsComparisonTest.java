package io.rdma4j.harness.interop;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The comparison of pyverbs's results on two devices. */
class PyverbsComparisonTest {
    @TempDir
    private Path folder;

    private PyverbsComparison compare(String exec, String rxe) throws IOException {
        Files.writeString(folder.resolve("exec-other"), exec);
        Files.writeString(folder.resolve("rxe-other"), rxe);
        return new PyverbsComparison(folder, List.of("other", "forking"));
    }

    @Test
    void testThatPassesOnRxeAloneIsAFault() throws IOException {
        assertThat(compare("test_a.A.test_b\tskipped\tno\n", "test_a.A.test_b\tpassed\t\n")
                        .print())
                .isFalse();
    }

    @Test
    void testThatFailsOverExecAloneIsAFault() throws IOException {
        assertThat(compare("test_a.A.test_b\tfailed\tno\n", "test_a.A.test_b\tfailed\tno\n")
                        .print())
                .isFalse();
        assertThat(compare("test_a.A.test_b\tfailed\tno\n", "test_a.A.test_b\tskipped\tno\n")
                        .print())
                .isTrue();
    }

    @Test
    void testThatDidNotRunOverExecIsAFault() throws IOException {
        assertThat(compare("", "test_a.A.test_b\tpassed\t\n").print()).isFalse();
        assertThat(compare("", "").print()).isFalse();
    }

    @Test
    void pageGroupsTestsThatDifferInTheSameWay() throws IOException {
        PyverbsComparison comparison = compare("""
                test_a.A.test_b\tpassed\t
                test_a.A.test_c\tpassed\t
                test_d.D.test_e\tskipped\tno | yes
                """, """
                test_a.A.test_b\tskipped\tCreate XRCD is not supported
                test_a.A.test_c\tskipped\tCreate XRCD is not supported
                test_d.D.test_e\tskipped\tno
                """);
        assertThat(comparison.print()).isTrue();
        Path page = folder.resolve("page.md");
        comparison.write(page, "6.12", "44");
        assertThat(page)
                .content()
                .contains("device of Linux 6.12.", "python3-pyverbs 44,")
                .contains("\n| test_a.A | 2 passed | 2 skipped |\n", "\n| all | 2 passed, 1 skipped | 3 skipped |\n")
                .contains("\n| test_a.A | test_b, test_c | passed | skipped | rdma_rxe has no XRC |\n")
                .endsWith("\n| 1 | no \\| yes | no |\n");
    }
}

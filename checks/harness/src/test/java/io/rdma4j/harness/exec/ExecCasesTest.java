package io.rdma4j.harness.exec;

import static org.assertj.core.api.Assertions.assertThat;

import io.rdma4j.harness.Case;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;

/** The table of cases. */
class ExecCasesTest {
    private static List<Case> all() {
        ExecCases cases = new ExecCases(
                () -> {
                    throw new AssertionError("no case runs");
                },
                Path.of("."));
        Main.defineAll(cases);
        return cases.all();
    }

    @Test
    void casesHaveDistinctNamesAndRoles() {
        assertThat(all()).extracting(each -> each.name() + " " + each.roles()).doesNotHaveDuplicates();
    }

    @Test
    void quickRunHasEachTool() {
        assertThat(all().stream().filter(Case::isQuick).map(Case::name))
                .contains(
                        "rping",
                        "ucmatose",
                        "udaddy",
                        "mckey",
                        "rstream",
                        "rcopy",
                        "ibv_rc_pingpong/-n200-c",
                        "ib_write_lat/-n200")
                .hasSizeBetween(80, 200);
    }
}

package io.rdma4j.harness.interop;

import static org.assertj.core.api.Assertions.assertThat;

import io.rdma4j.harness.Case;
import io.rdma4j.harness.GuestKernel;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;

/** The table of cases of the guest's devices. */
class HardwareCasesTest {
    private static List<Case> all(boolean isC) {
        Setting.Inside inside = new Setting.Inside(isC, GuestJava.environment(null));
        Setting setting = new Setting(Path.of("."), GuestKernel.of("6.12").withSiw(), 1500, false, false, inside);
        InteropCases cases = new InteropCases(setting, () -> {
            throw new AssertionError("no case runs");
        });
        HardwareCases.define(cases, new GuestJava(Path.of("."), List.of()));
        return cases.all(roles -> true);
    }

    @Test
    void casesHaveDistinctNamesAndRoles() {
        assertThat(all(false)).extracting(Case::title).doesNotHaveDuplicates();
    }

    @Test
    void smokeRunHasThreeCases() {
        assertThat(all(false))
                .extracting(Case::title)
                .filteredOn(HardwareMain.SMOKE.asPredicate())
                .hasSize(3);
    }

    @Test
    void quickRunHasNoConformanceTest() {
        assertThat(all(false))
                .filteredOn(each -> each.name().endsWith("/conformance"))
                .hasSize(2)
                .noneMatch(Case::isQuick);
    }

    @Test
    void peerInCHasItsToolsOnBothDevices() {
        assertThat(all(true)).extracting(Case::roles).containsOnly("C->C");
        assertThat(all(true))
                .extracting(Case::name)
                .contains("rxe/rping/v4", "siw/rping/v4")
                .doesNotContain("java");
    }
}

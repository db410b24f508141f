package io.rdma4j.harness.interop;

import static org.assertj.core.api.Assertions.assertThat;

import io.rdma4j.harness.Case;
import io.rdma4j.harness.GuestKernel;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;

/** The table of cases. */
class InteropCasesTest {
    private static InteropCases all(boolean isPeerC) {
        Setting setting = new Setting(Path.of("."), GuestKernel.of("6.1"), 1500, isPeerC, false, null);
        InteropCases cases = new InteropCases(setting, () -> {
            throw new AssertionError("no case runs");
        });
        Main.defineAll(cases);
        return cases;
    }

    @Test
    void casesHaveDistinctNamesAndRoles() {
        assertThat(all(false).all(roles -> true)).extracting(Case::title).doesNotHaveDuplicates();
    }

    @Test
    void casesWithoutTheGuestAreThoseOfTheHost() {
        List<Case> withoutGuest = all(false).all(roles -> !roles.needsGuest());
        assertThat(withoutGuest)
                .isNotEmpty()
                .allMatch(each -> each.name().startsWith("host/"))
                .allMatch(each -> each.roles().equals("Java->Java"));
        assertThat(all(false).all(Roles::needsGuest))
                .noneMatch(each -> each.name().startsWith("host/"));
    }

    @Test
    void quickRunHasBothRoles() {
        assertThat(all(false).all(roles -> true).stream().filter(Case::isQuick).map(Case::title))
                .contains(
                        "size/v4/65535 C->Java",
                        "size/v4/65535 Java->C",
                        "exec/rping/v6 exec->C",
                        "exec/rping/v6 C->exec",
                        "host/kill-9/server-owner Java->Java")
                .doesNotContain("size/v4/64 C->Java");
    }

    @Test
    void secondGuestTakesThePlaceOfJava() {
        assertThat(all(true).all(roles -> true)).extracting(Case::roles).containsOnly("C->C");
    }
}

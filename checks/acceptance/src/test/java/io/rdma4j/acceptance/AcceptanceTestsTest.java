package io.rdma4j.acceptance;

import static org.assertj.core.api.Assertions.assertThat;

import io.rdma4j.fixture.Checkout;
import java.util.Comparator;
import java.util.List;
import org.junit.jupiter.api.Test;

/** The table of all tests, and the page that describes them. */
class AcceptanceTestsTest {
    @Test
    void eachTestHasARowOfThePage() {
        List<String> rows = Checkout.read(Checkout.ROOT.resolve("docs/acceptance-tests.md"))
                .lines()
                .filter(line -> line.matches("\\| \\d+ \\| .*"))
                .map(line -> line.split("\\|", -1))
                .map(cells -> cells[1].strip() + " " + cells[2].strip())
                .toList();
        assertThat(AcceptanceTests.tests())
                .extracting(test -> test.number() + " " + test.title())
                .doesNotHaveDuplicates()
                .containsExactlyInAnyOrderElementsOf(rows);
    }

    @Test
    void testsAreInTheOrderOfTheirNumbers() {
        assertThat(AcceptanceTests.tests()).isSortedAccordingTo(Comparator.comparingInt(AcceptanceTest::number));
    }
}

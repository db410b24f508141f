package io.rdma4j.rules;

import static org.assertj.core.api.Assertions.assertThat;

import com.palantir.javaformat.java.Formatter;
import com.palantir.javaformat.java.FormatterException;
import com.palantir.javaformat.java.ImportOrderer;
import com.palantir.javaformat.java.JavaFormatterOptions;
import com.palantir.javaformat.java.JavaFormatterOptions.Style;
import com.palantir.javaformat.java.RemoveUnusedImports;
import io.rdma4j.fixture.Checkout;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;

/**
 * Checks the layout of the sources on the JDK of the tests. Spotless runs in the JVM of Maven, which cannot parse the
 * sources if it is older than Java 25.
 */
class SourceFormatTest {
    private final Formatter formatter = Formatter.createFormatter(
            JavaFormatterOptions.builder().style(Style.PALANTIR).build());

    @Test
    void everySourceIsFormatted() {
        List<String> wrong = Checkout.sources().stream()
                .filter(this::isLaidOutOtherwise)
                .map(source -> Checkout.ROOT.relativize(source).toString())
                .toList();
        assertThat(wrong).as("run .ci/format; it rewrites these files").isEmpty();
    }

    private boolean isLaidOutOtherwise(Path source) {
        try {
            String text = Checkout.read(source);
            // The steps of Spotless. The formatter's combined step would also break long strings.
            String imports =
                    RemoveUnusedImports.removeUnusedImports(ImportOrderer.reorderImports(text, Style.PALANTIR));
            return !formatter.formatSource(imports).equals(text);
        } catch (FormatterException e) {
            throw new IllegalStateException("the formatter cannot read " + source, e);
        }
    }
}

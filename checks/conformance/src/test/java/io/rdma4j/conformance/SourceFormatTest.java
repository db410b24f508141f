package io.rdma4j.conformance;

import static org.assertj.core.api.Assertions.assertThat;

import com.palantir.javaformat.java.Formatter;
import com.palantir.javaformat.java.FormatterException;
import com.palantir.javaformat.java.ImportOrderer;
import com.palantir.javaformat.java.JavaFormatterOptions;
import com.palantir.javaformat.java.JavaFormatterOptions.Style;
import com.palantir.javaformat.java.RemoveUnusedImports;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/**
 * Checks the layout of the sources on the JDK of the tests. Spotless runs in the JVM of Maven, which cannot parse the
 * sources if it is older than Java 25.
 */
class SourceFormatTest {
    private static final Path CHECKOUT = Path.of("").toAbsolutePath().getParent();

    private final Formatter formatter = Formatter.createFormatter(
            JavaFormatterOptions.builder().style(Style.PALANTIR).build());

    @Test
    void everySourceIsFormatted() throws IOException {
        List<String> wrong;
        try (Stream<Path> sources = sources()) {
            wrong = sources.filter(this::isLaidOutOtherwise)
                    .map(source -> CHECKOUT.relativize(source).toString())
                    .sorted()
                    .toList();
        }
        assertThat(wrong).as("run .ci/format; it rewrites these files").isEmpty();
    }

    private static Stream<Path> sources() throws IOException {
        try (Stream<Path> modules = Files.list(CHECKOUT)) {
            return modules.map(module -> module.resolve("src")).filter(Files::isDirectory).toList().stream()
                    .flatMap(SourceFormatTest::javaFilesUnder);
        }
    }

    private static Stream<Path> javaFilesUnder(Path folder) {
        try (Stream<Path> files = Files.walk(folder)) {
            return files.filter(file -> file.toString().endsWith(".java")).toList().stream();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private boolean isLaidOutOtherwise(Path source) {
        try {
            String text = Files.readString(source);
            // The steps of Spotless. The formatter's combined step would also break long strings.
            String imports =
                    RemoveUnusedImports.removeUnusedImports(ImportOrderer.reorderImports(text, Style.PALANTIR));
            return !formatter.formatSource(imports).equals(text);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        } catch (FormatterException e) {
            throw new IllegalStateException("the formatter cannot read " + source, e);
        }
    }
}

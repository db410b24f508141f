package io.rdma4j.conformance;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * The Java code in pages is quoted from the examples. A comment {@code <!-- File.java#tag -->} before a block of code names the
 * file and the part between {@code tag::tag[]} and {@code end::tag[]}.
 */
class QuotedExamplesTest {
    private static final Path ROOT = Path.of("").toAbsolutePath().resolveSibling("");
    private static final Path EXAMPLES = ROOT.resolve("examples/src/main/java/io/rdma4j/examples");
    private static final Pattern QUOTE =
            Pattern.compile("<!-- (\\w+\\.java)#(\\w+) -->\n```java\n(.*?)```", Pattern.DOTALL);

    @Test
    void pagesQuoteTheExamplesAsTheyAre() throws IOException {
        List<MatchResult> quotes = QUOTE.matcher(Files.readString(ROOT.resolve("README.md")))
                .results()
                .toList();
        assertThat(quotes).isNotEmpty();
        for (MatchResult quote : quotes) {
            assertThat(quote.group(3)).as(quote.group(1)).isEqualTo(part(quote.group(1), quote.group(2)));
        }
    }

    @Test
    void readmeQuotesThePomOfAProgramOutsideWhichHasOneDependency() throws IOException {
        String pom = Files.readString(ROOT.resolve("examples/outside/class-path/pom.xml"));
        assertThat(Files.readString(ROOT.resolve("README.md")))
                .contains("<!-- outside/class-path/pom.xml -->\n```xml\n" + pom.substring(pom.indexOf("<project"))
                        + "```");
        assertThat(between(pom, "<dependency>", "</dependency>")).contains("<artifactId>rdma4j</artifactId>");
        assertThat(pom).containsOnlyOnce("</dependency>");
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "bom/pom.xml",
                "examples/outside/class-path/pom.xml",
                "examples/outside/module-path/pom.xml",
                "examples/outside/testkit/pom.xml",
                "README.md"
            })
    void everyPlaceThatNamesTheVersionNamesThatOfTheProject(String file) throws IOException {
        String version = between(Files.readString(ROOT.resolve("pom.xml")), "<version>", "</version>");
        assertThat(Files.readString(ROOT.resolve(file))).contains("<version>" + version + "</version>");
    }

    @Test
    void readmeListsEveryExample() throws IOException {
        String readme = Files.readString(ROOT.resolve("README.md"));
        try (Stream<Path> files = Files.list(EXAMPLES)) {
            assertThat(files.map(file -> file.getFileName().toString())
                            .filter(name -> !name.equals("package-info.java")))
                    .allSatisfy(name -> assertThat(readme)
                            .contains("| [" + name.replace(".java", "") + "](examples/src/main/java/io/rdma4j/examples/"
                                    + name + ")"));
        }
    }

    private static String between(String text, String begin, String end) {
        int from = text.indexOf(begin) + begin.length();
        return text.substring(from, text.indexOf(end, from));
    }

    /** Returns the part of an example between its tags, without the indentation of its first line. */
    private static String part(String file, String tag) throws IOException {
        String source = Files.readString(EXAMPLES.resolve(file));
        String begin = "// tag::" + tag + "[]\n";
        String block =
                source.substring(source.indexOf(begin) + begin.length(), source.indexOf("    // end::" + tag + "[]"));
        return Stream.of(block.split("\n"))
                .map(line -> line.replaceFirst("^ {4}", ""))
                .reduce("", (text, line) -> text + line + "\n");
    }
}

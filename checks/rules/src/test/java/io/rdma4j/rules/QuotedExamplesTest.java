package io.rdma4j.rules;

import static org.assertj.core.api.Assertions.assertThat;

import io.rdma4j.fixture.Checkout;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * The Java code in README and in the guide is quoted from the examples and their tests. A comment {@code <!-- File.java#tag -->} before a block of code names the
 * file and the part between {@code tag::tag[]} and {@code end::tag[]}.
 */
class QuotedExamplesTest {
    private static final Path ROOT = Checkout.ROOT;
    private static final Path EXAMPLES = ROOT.resolve("examples/src/main/java/io/rdma4j/examples");
    private static final Path GUIDE = ROOT.resolve("docs/guide");
    private static final Pattern QUOTE =
            Pattern.compile("<!-- (\\w+\\.java)#(\\w+) -->\n```java\n(.*?)```", Pattern.DOTALL);
    private static final Pattern JAVA = Pattern.compile("^ *```java$", Pattern.MULTILINE);

    static Stream<Path> pages() throws IOException {
        try (Stream<Path> guide = Files.list(GUIDE)) {
            List<Path> pages =
                    guide.filter(page -> page.toString().endsWith(".md")).toList();
            return Stream.concat(Stream.of(ROOT.resolve("README.md")), pages.stream());
        }
    }

    @ParameterizedTest
    @MethodSource("pages")
    void pagesQuoteTheExamplesAsTheyAre(Path page) throws IOException {
        String text = Files.readString(page);
        List<MatchResult> quotes = QUOTE.matcher(text).results().toList();
        for (MatchResult quote : quotes) {
            assertThat(quote.group(3)).as(quote.group(1)).isEqualTo(part(quote.group(1), quote.group(2)));
        }
        assertThat(JAVA.matcher(text).results())
                .as("blocks of Java, all of them quoted")
                .hasSameSizeAs(quotes);
    }

    @Test
    void readmeQuotesThePomOfAProgramOutsideWhichHasOneDependency() throws IOException {
        String pom = requireQuotedPom("README.md", "outside/class-path/pom.xml");
        assertThat(between(pom, "<dependency>", "</dependency>")).contains("<artifactId>rdma4j</artifactId>");
        assertThat(pom).containsOnlyOnce("</dependency>");
    }

    /** The Surefire plugin that Maven 3.8 selects by itself runs no test of JUnit 6, and reports no error. */
    @Test
    void theGuideQuotesThePomOfAProjectWithTestsWhichNamesTheVersionOfSurefire() throws IOException {
        String pom = requireQuotedPom("docs/guide/testing.md", "outside/testkit/pom.xml");
        assertThat(pom)
                .containsPattern(
                        "<artifactId>maven-surefire-plugin</artifactId>\\s*<version>[3-9]\\.[0-9.]+</version>");
    }

    /** Checks that a page quotes the whole file, and returns its content. */
    private static String requireQuotedPom(String page, String file) throws IOException {
        String pom = Files.readString(ROOT.resolve("examples").resolve(file));
        assertThat(Files.readString(ROOT.resolve(page)))
                .contains("<!-- " + file + " -->\n```xml\n" + pom.substring(pom.indexOf("<project")) + "```");
        return pom;
    }

    /** The plugin that installs a module fails for one without a jar. */
    @Test
    void everyModuleWithoutAJarIsNeitherInstalledNorDeployed() throws IOException {
        assertThat(Files.readString(ROOT.resolve("pom.xml")))
                .contains("<maven.install.skip>${maven.deploy.skip}</maven.install.skip>");
        assertThat(Checkout.modules()).hasSizeGreaterThan(15);
        for (Path module : Checkout.modules()) {
            String pom = Files.readString(module.resolve("pom.xml"));
            if (pom.contains("<id>default-jar</id>\n            <phase>none</phase>")) {
                assertThat(pom).as(module.toString()).contains("<maven.deploy.skip>true</maven.deploy.skip>");
            }
        }
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "build/bom/pom.xml",
                "examples/outside/class-path/pom.xml",
                "examples/outside/module-path/pom.xml",
                "examples/outside/testkit/pom.xml",
                "docs/guide/testing.md",
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

    /** Returns the part of an example between its tags, without the indentation of the tags. */
    private static String part(String file, String tag) throws IOException {
        List<String> lines = Files.readAllLines(source(file));
        int begin = indexOf(lines, "// tag::" + tag + "[]");
        int end = indexOf(lines, "// end::" + tag + "[]");
        int indentation = lines.get(begin).indexOf("// tag");
        return lines.subList(begin + 1, end).stream()
                .map(line -> line.replaceFirst("^ {" + indentation + "}", ""))
                .reduce("", (text, line) -> text + line + "\n");
    }

    private static int indexOf(List<String> lines, String tag) {
        List<String> trimmed = lines.stream().map(String::strip).toList();
        assertThat(trimmed).containsOnlyOnce(tag);
        return trimmed.indexOf(tag);
    }

    /** Returns the file of an example or of a test of the examples, whose names are distinct. */
    private static Path source(String name) throws IOException {
        try (Stream<Path> files = Files.walk(ROOT.resolve("examples/src"))) {
            List<Path> found = files.filter(file -> file.endsWith(name)).toList();
            assertThat(found).as(name).hasSize(1);
            return found.getFirst();
        }
    }
}

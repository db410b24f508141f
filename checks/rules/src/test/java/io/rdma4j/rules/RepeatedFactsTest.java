package io.rdma4j.rules;

import static org.assertj.core.api.Assertions.assertThat;

import io.rdma4j.fixture.Checkout;
import io.rdma4j.sockets.options.AddressRules;
import io.rdma4j.sockets.options.RdmaSocketOptions;
import io.rdma4j.sockets.stream.StreamSizes;
import io.rdma4j.soft.options.SecurityOptions;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Facts that pages repeat: default values, versions and files are the same as in the code. */
class RepeatedFactsTest {
    private static final Path ROOT = Checkout.ROOT;

    /** A path of the repository in a code span, from its root or from the folder of the page. */
    private static final Pattern FILE =
            Pattern.compile("`((?:\\.ci|\\.github|apps|bin|build|checks|docs|examples|lib)/[\\w./-]*\\w)");

    /** Results of a build, and a folder of Java's runtime. */
    private static final Pattern OTHER_FILE = Pattern.compile(".*/target/.*|build/rdma4j|lib/modules");

    @Test
    void filesThatPagesNameExist() {
        List<String> missing = new ArrayList<>();
        for (Path page : pages()) {
            FILE.matcher(Checkout.read(page))
                    .results()
                    .map(found -> found.group(1))
                    .filter(name -> !OTHER_FILE.matcher(name).matches())
                    .filter(name -> !Files.exists(ROOT.resolve(name)) && !Files.exists(page.resolveSibling(name)))
                    .forEach(name -> missing.add(ROOT.relativize(page) + ": " + name));
        }
        assertThat(missing).isEmpty();
    }

    @Test
    void securityPageHasEveryOptionWithItsDefault() {
        Path page = ROOT.resolve("SECURITY.md");
        SecurityOptions defaults = SecurityOptions.DEFAULT;
        assertThat(number(cell(page, "request-rate=N", 1)))
                .startsWith(defaults.requestsPerSecond() + " a second, " + defaults.requestBurst() + " in a burst;");
        assertThat(number(cell(page, "half-open=N", 1))).startsWith(defaults.halfOpen() + ";");
        assertThat(number(cell(page, "connections=N", 1)))
                .startsWith(defaults.connectionsPerPeer() + ", or " + 2 * defaults.connectionsPerPeer() + " ");
        String options = SecurityOptions.SYNTAX.substring(0, SecurityOptions.SYNTAX.indexOf(' '));
        for (String option : options.split(",", -1)) {
            List<String> choices = List.of(option.split("\\|", -1));
            assertThat(cell(page, choices.getFirst(), 2))
                    .contains(choices.stream().map(choice -> "`" + choice + "`").toList());
        }
    }

    @Test
    void readmeHasTheDefaultsOfRdmaSockets() {
        Path page = ROOT.resolve("README.md");
        StreamSizes sizes = StreamSizes.DEFAULT;
        assertThat(cell(page, AddressRules.REFUSED_SECONDS_PROPERTY, 2))
                .isEqualTo(AddressRules.DEFAULT_REFUSED_SECONDS + ", " + AddressRules.DEFAULT_REFUSED_PEERS);
        assertThat(cell(page, RdmaSocketOptions.SEND_BUFFER_PROPERTY, 2))
                .isEqualTo(String.valueOf(sizes.sendBufferBytes()))
                .isEqualTo(String.valueOf(sizes.receiveBufferBytes()));
        assertThat(cell(page, RdmaSocketOptions.SEND_QUEUE_PROPERTY, 2))
                .isEqualTo(sizes.sendQueue() + ", " + sizes.receiveQueue() + ", " + sizes.inlineBytes() + ", "
                        + sizes.mappingEntries());
    }

    /** @param source the message or the constant that has the version, which every page must have */
    @ParameterizedTest
    @CsvSource({
        "lib/hardware/src/main/java/io/rdma4j/hardware/device/HardwareContext.java, rdma-core (\\d+) or later",
        "apps/tools/src/main/java/io/rdma4j/tools/perftest/PerftestOptions.java, perftest (4\\.\\d+)"
    })
    void pagesNameTheVersionOfTheCode(String source, String version) {
        Pattern pattern = Pattern.compile(version);
        Set<String> expected = found(pattern, ROOT.resolve(source));
        assertThat(expected).hasSize(1);
        Set<String> named = new TreeSet<>();
        pages().forEach(page -> named.addAll(found(pattern, page)));
        assertThat(named).isEqualTo(expected);
    }

    @Test
    void listOfTheToolsHasEveryPage() throws IOException {
        Path folder = ROOT.resolve("docs/tools");
        String list = Checkout.read(folder.resolve("README.md"));
        try (Stream<Path> files = Files.list(folder)) {
            assertThat(files.map(page -> page.getFileName().toString()).filter(page -> !page.equals("README.md")))
                    .allSatisfy(page -> assertThat(list).contains("](" + page + ")"));
        }
    }

    /** Returns the pages, except decisions, which describe the repository at the time when they were made. */
    private static List<Path> pages() {
        List<Path> pages = new ArrayList<>();
        for (String folder :
                List.of("", "docs", "docs/guide", "docs/tools", "docs/model", "apps/exec", "checks/interop")) {
            try (Stream<Path> files = Files.list(ROOT.resolve(folder))) {
                files.filter(file -> file.toString().endsWith(".md")).sorted().forEach(pages::add);
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            }
        }
        return pages;
    }

    private static Set<String> found(Pattern pattern, Path file) {
        return pattern.matcher(Checkout.read(file))
                .results()
                .map(match -> match.group(1))
                .collect(Collectors.toCollection(TreeSet::new));
    }

    /** Returns a cell, from 0, of the only row of a table that has a key in a code span. */
    private static String cell(Path page, String key, int index) {
        List<String> rows = Checkout.read(page)
                .lines()
                .filter(line -> line.startsWith("| ") && line.contains("`" + key + "`"))
                .toList();
        assertThat(rows).as(key).hasSize(1);
        return rows.getFirst().split(" ?\\| ?", -1)[index + 1];
    }

    /** Removes the spaces between groups of digits. */
    private static String number(String text) {
        return text.replaceAll("(?<=\\d) (?=\\d{3})", "");
    }
}

package io.rdma4j.rules;

import static org.assertj.core.api.Assertions.assertThat;

import io.rdma4j.fixture.Checkout;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.FileVisitResult;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.SimpleFileVisitor;
import java.nio.file.attribute.BasicFileAttributes;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/**
 * Each page of docs/decisions is named by a comment in a file that it explains: a class, a script, a C file or a
 * pom.xml. The comment has the word "decision" and the number of the page. Each number that a comment names has a page.
 */
class DecisionLinksTest {
    private static final Pattern PAGE = Pattern.compile("(\\d{3})-.*\\.md");

    /** A page that is superseded in part still explains something. */
    private static final Pattern SUPERSEDED = Pattern.compile("^Status: superseded by\\b", Pattern.MULTILINE);

    /** The number may begin the next line of a comment. */
    private static final Pattern NAME = Pattern.compile("\\bdecision[\\s*#/]+(\\d{3})\\b", Pattern.CASE_INSENSITIVE);

    private static final Pattern EXPLAINED = Pattern.compile("[^.]+|.*\\.(java|c|h|sh)|pom\\.xml");

    /** Folders whose files are not read: the pages, what is built or downloaded, and data. */
    private static final Set<String> OTHERS = Set.of("docs", "target", ".git", ".cache", "node_modules", "resources");

    private static final String UNNAMED = "name each of these decisions, as in (decision NNN), in the comment of the"
            + " class or script that it explains, or write 'superseded by' and its successor in its status";

    private static final String UNKNOWN = "correct these numbers in the files, or add their pages to docs/decisions";

    @Test
    void eachDecisionIsNamedByWhatItExplains() throws IOException {
        Map<String, Path> unnamed = pages();
        unnamed.values()
                .removeIf(page -> SUPERSEDED.matcher(Checkout.read(page)).find());
        unnamed.keySet().removeAll(names().keySet());
        assertThat(unnamed.values()).as(UNNAMED).isEmpty();
    }

    @Test
    void eachNamedDecisionHasAPage() throws IOException {
        Map<String, Set<String>> unknown = names();
        unknown.keySet().removeAll(pages().keySet());
        assertThat(unknown).as(UNKNOWN).isEmpty();
    }

    /** The pages by number. */
    private static Map<String, Path> pages() throws IOException {
        Map<String, Path> pages = new TreeMap<>();
        try (Stream<Path> files = Files.list(Checkout.ROOT.resolve("docs/decisions"))) {
            files.forEach(file -> {
                Matcher name = PAGE.matcher(file.getFileName().toString());
                if (name.matches()) {
                    pages.put(name.group(1), file);
                }
            });
        }
        return pages;
    }

    /** The numbers that are named outside of the pages, with the files that name them. */
    private static Map<String, Set<String>> names() throws IOException {
        Map<String, Set<String>> names = new TreeMap<>();
        Files.walkFileTree(Checkout.ROOT, new SimpleFileVisitor<>() {
            @Override
            public FileVisitResult preVisitDirectory(Path folder, BasicFileAttributes attributes) {
                return OTHERS.contains(folder.getFileName().toString())
                        ? FileVisitResult.SKIP_SUBTREE
                        : FileVisitResult.CONTINUE;
            }

            @Override
            public FileVisitResult visitFile(Path file, BasicFileAttributes attributes) throws IOException {
                String name = file.getFileName().toString();
                if (attributes.isRegularFile() && EXPLAINED.matcher(name).matches()) {
                    addNames(file, names);
                }
                return FileVisitResult.CONTINUE;
            }
        });
        return names;
    }

    private static void addNames(Path file, Map<String, Set<String>> names) throws IOException {
        String path = Checkout.ROOT.relativize(file).toString();
        // Not as UTF-8: a file without extension may be a program.
        Matcher name = NAME.matcher(Files.readString(file, StandardCharsets.ISO_8859_1));
        while (name.find()) {
            names.computeIfAbsent(name.group(1), number -> new TreeSet<>()).add(path);
        }
    }
}

package io.rdma4j.rules;

import static org.assertj.core.api.Assertions.assertThat;

import io.rdma4j.cm.CmEvent;
import io.rdma4j.fixture.Checkout;
import io.rdma4j.rules.SourceMessages.Message;
import io.rdma4j.value.CompletionStatus;
import io.rdma4j.value.RejectReason;
import io.rdma4j.verbs.AsyncEvent;
import io.rdma4j.verbs.Errno;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Set;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

/**
 * docs/errors.md has every message of the library modules and the launcher (decision 043).
 *
 * <p>A call in their sources that has a text of four or more words as an argument is found by a phrase of the page, and each
 * phrase of the page is in the sources. A phrase is code in the first column of a table after the heading "Messages". In a phrase,
 * {@code …} stands for anything.
 */
class ErrorPageTest {
    private static final Path ROOT = Checkout.ROOT;

    /** The folders whose messages are all on the page. Of the tools, that is what they have in common: others have those of C. */
    private static final List<String> FOLDERS = List.of(
            "lib/library/src/main",
            "lib/wire/src/main/java/io/rdma4j/value",
            "lib/verbs/src/main",
            "lib/cm/src/main",
            "lib/sharing/src/main",
            "lib/soft/src/main",
            "lib/hardware/src/main",
            "lib/link/src/main",
            "lib/sockets/src/main",
            "apps/tools/src/main/java/io/rdma4j/tools/command");

    /** Sources whose texts are not messages: the names of enums, which are checked as such, and syntax. */
    private static final List<String> WITHOUT_MESSAGES = List.of(
            "Errno.java",
            "CompletionStatus.java",
            "RejectReason.java",
            "AsyncEvent.java",
            "PortState.java",
            "LinuxErrno.java",
            "AddressLookupException.java",
            "CommonOptions.java");

    /** A text that the launcher, a script, prints to users. */
    private static final Pattern LAUNCHER_TEXT =
            Pattern.compile("\\b(?:fail|echo|exec_fail \\S+|exec_usage) \"((?:[^\"\\\\]|\\\\.)+)\"");

    private static final List<String> LAUNCHER_FILES = List.of(
            "rdma4j", "build/dist/launcher", "apps/tools/launcher/exec.sh", "apps/tools/launcher/exec-build.sh");

    /** A text that the C library of exec prints to users; it may consist of several literals. */
    private static final Pattern LIBRARY_TEXT =
            Pattern.compile("\\blog_error\\(\\s*((?:\"(?:[^\"\\\\]|\\\\.)*\"\\s*)+)");

    private static final Path LIBRARY = ROOT.resolve("apps/exec/native");

    private static final Pattern FIRST_COLUMN = Pattern.compile("^\\| (.*?) \\|", Pattern.MULTILINE);
    private static final Pattern CODE = Pattern.compile("`([^`]+)`");

    private static String page = "";
    private static List<Message> messages = List.of();

    /** Messages that may be on the page: those of single tools. */
    private static List<Message> others = List.of();

    private static List<String> phrases = List.of();

    @BeforeAll
    static void read() throws IOException {
        page = Files.readString(ROOT.resolve("docs/errors.md"));
        phrases = FIRST_COLUMN
                .matcher(page.substring(page.indexOf("\n## Messages")))
                .results()
                .map(MatchResult::group)
                .flatMap(cell -> CODE.matcher(cell).results())
                .map(code -> code.group(1))
                .toList();
        messages = new ArrayList<>(SourceMessages.of(sources(FOLDERS)));
        messages.addAll(messagesOfLauncher());
        messages.addAll(messagesOfLibrary());
        others = SourceMessages.of(sources(List.of("apps/tools/src/main")));
    }

    private static List<Path> sources(List<String> folders) throws IOException {
        List<Path> all = new ArrayList<>();
        for (String folder : folders) {
            Checkout.javaFiles(ROOT.resolve(folder)).stream()
                    .filter(file ->
                            !WITHOUT_MESSAGES.contains(file.getFileName().toString()))
                    .forEach(all::add);
        }
        return all;
    }

    private static List<Message> messagesOfLauncher() throws IOException {
        List<Message> all = new ArrayList<>();
        for (String file : LAUNCHER_FILES) {
            LAUNCHER_TEXT
                    .matcher(Files.readString(ROOT.resolve(file)))
                    .results()
                    .map(call -> call.group(1).replaceAll("\\$\\{[^}]*}|\\$\\w+", SourceMessages.VARIABLE))
                    .filter(SourceMessages::isMessage)
                    .map(text -> new Message(file, Set.of(text)))
                    .forEach(all::add);
        }
        return all;
    }

    private static List<Message> messagesOfLibrary() throws IOException {
        List<Message> all = new ArrayList<>();
        try (Stream<Path> files = Files.list(LIBRARY)) {
            for (Path file : files.filter(each -> each.toString().endsWith(".c"))
                    .sorted()
                    .toList()) {
                LIBRARY_TEXT
                        .matcher(Files.readString(file))
                        .results()
                        .map(call -> call.group(1).replaceAll("(?<!\\\\)\"\\s*\"|^\"|\"\\s*$", ""))
                        .filter(SourceMessages::isMessage)
                        .map(text -> new Message(file.getFileName().toString(), Set.of(text)))
                        .forEach(all::add);
            }
        }
        return all;
    }

    @Test
    void everyMessageInTheSourcesIsOnThePage() {
        List<Pattern> patterns = phrases.stream().map(ErrorPageTest::pattern).toList();
        assertThat(messages)
                .hasSizeGreaterThan(200)
                .filteredOn(message -> message.texts().stream()
                        .noneMatch(text -> patterns.stream()
                                .anyMatch(phrase -> phrase.matcher(text).find())))
                .as("calls with texts that no phrase of docs/errors.md finds")
                .isEmpty();
    }

    @Test
    void everyPhraseOfThePageIsInTheSources() {
        List<String> texts = Stream.concat(messages.stream(), others.stream())
                .flatMap(message -> message.texts().stream())
                .toList();
        assertThat(phrases)
                .filteredOn(phrase -> {
                    Pattern pattern = pattern(phrase);
                    return texts.stream()
                            .noneMatch(text -> pattern.matcher(text).find());
                })
                .as("phrases of docs/errors.md that no source contains")
                .isEmpty();
    }

    @Test
    void everyNamedErrorIsOnThePage() {
        List<Enum<?>> named = new ArrayList<>();
        named.addAll(Arrays.asList(Errno.values()));
        named.addAll(Arrays.asList(CompletionStatus.values()));
        named.addAll(Arrays.asList(RejectReason.values()));
        named.addAll(Arrays.asList(AsyncEvent.Type.values()));
        for (CmEvent.Type type : CmEvent.Type.values()) {
            if (type.name().endsWith("_ERROR")) {
                named.add(type);
            }
        }
        assertThat(named)
                .filteredOn(each -> !page.contains("`" + each.name() + "`"))
                .isEmpty();
    }

    /** Returns a pattern in which each variable part matches anything. */
    private static Pattern pattern(String phrase) {
        return Pattern.compile(
                Stream.of(phrase.split(SourceMessages.VARIABLE, -1))
                        .map(Pattern::quote)
                        .reduce((a, b) -> a + ".*" + b)
                        .orElseThrow(),
                Pattern.DOTALL);
    }
}

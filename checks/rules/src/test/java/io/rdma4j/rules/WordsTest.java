package io.rdma4j.rules;

import static org.assertj.core.api.Assertions.assertThat;

import io.rdma4j.fixture.Checkout;
import java.io.IOException;
import java.nio.file.FileVisitResult;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.SimpleFileVisitor;
import java.nio.file.attribute.BasicFileAttributes;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.regex.MatchResult;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** Checks the language of comments, and that replaced names do not come back; CONTRIBUTING.md has the rules. */
class WordsTest {
    private static final Path ROOT = Checkout.ROOT;

    /** String literals are matched, so that a comment's beginning inside them is skipped. */
    private static final Pattern STRING_OR_JAVADOC =
            Pattern.compile("\"(?:\\\\.|[^\"\\\\\n])*\"|/\\*\\*.*?\\*/", Pattern.DOTALL);

    private static final Pattern OPENER =
            Pattern.compile("(Who|Whoever|Whom|Whose|What|Whatever|Where|Wherever|Whether)\\b.*", Pattern.DOTALL);

    /** Types that were renamed, and must not come back. */
    private static final Pattern OLD_NAME =
            Pattern.compile("\\b(LastWill|WillTeller|WillKeeper|Orphan|NeighbourLink|Alarms|InboundRequests|CmListening"
                    + "|ServiceListening|StreamListening|RoundTrips|MessageCount|PostingLine|SendPosting|SendTurns"
                    + "|Standby|SleepDelay|Handover|StandIn|UndecidedChannel|OrdinaryChannels|ForgottenSockets|TakingBack"
                    + "|PlantedMistakes|isBelievable|isGuess|onGhost|breakSoon|takeOfOneKind|partFromAll|isParting|isKin"
                    + ")\\b");

    /** Phrases that are translated, and never what an engineer would write. */
    private static final Pattern TRANSLATED = Pattern.compile(
            "\\b(signs? of life|look(s|ed|ing)? whether|anew|shall|for ever|the longest time|from now on|without a meaning"
                    + "|rooms|any longer|(has|have) gone|for a moment|in whose name|are ever|tells? whether|(gives?|given) back"
                    + "|from here on|up to now|hitherto|the other side's|the begin of|at the begin|lets? nobody"
                    + "|is no \\w+ any more|the (most|least) \\w+ that)\\b",
            Pattern.CASE_INSENSITIVE);

    private static final Pattern TEXT = Pattern.compile(".*\\.(java|md|sh|c|h|pml)");

    /** Folders whose files are not read: what is built, and what is not written here. */
    private static final Set<String> OTHERS = Set.of("target", ".git", "node_modules");

    @Test
    void noTextHasATranslatedPhrase() throws IOException {
        List<String> found = new ArrayList<>();
        Files.walkFileTree(ROOT, new SimpleFileVisitor<>() {
            @Override
            public FileVisitResult preVisitDirectory(Path folder, BasicFileAttributes attributes) {
                return OTHERS.contains(folder.getFileName().toString())
                        ? FileVisitResult.SKIP_SUBTREE
                        : FileVisitResult.CONTINUE;
            }

            @Override
            public FileVisitResult visitFile(Path file, BasicFileAttributes attributes) throws IOException {
                if (TEXT.matcher(file.toString()).matches() && !file.endsWith("WordsTest.java")) {
                    for (String line : Files.readAllLines(file)) {
                        if (TRANSLATED.matcher(line).find()) {
                            found.add(ROOT.relativize(file) + ": " + line.strip());
                        }
                    }
                }
                return FileVisitResult.CONTINUE;
            }
        });
        assertThat(found).isEmpty();
    }

    @Test
    void noJavadocSentenceOpensWithABareQuestionWord() {
        assertThat(Checkout.sources().stream().flatMap(WordsTest::bareOpeners)).isEmpty();
    }

    @Test
    void replacedNamesAreGone() {
        assertThat(Checkout.sources().stream()
                        .filter(source -> !source.endsWith("WordsTest.java"))
                        .filter(source ->
                                OLD_NAME.matcher(Checkout.read(source)).find())
                        .map(source -> ROOT.relativize(source).toString()))
                .isEmpty();
    }

    private static Stream<String> bareOpeners(Path source) {
        Matcher matcher = STRING_OR_JAVADOC.matcher(Checkout.read(source));
        return matcher.results()
                .map(MatchResult::group)
                .filter(comment -> comment.startsWith("/**"))
                .flatMap(WordsTest::sentences)
                .filter(sentence -> OPENER.matcher(sentence).matches() && !sentence.endsWith("?"))
                .map(sentence -> ROOT.relativize(source) + ": " + sentence);
    }

    /** The sentences of a comment, without its markup; the descriptions of tags begin sentences, too. */
    private static Stream<String> sentences(String comment) {
        String plain = comment.replaceAll("^/\\*\\*|\\*/$", "")
                .replaceAll("(?m)^\\s*\\* ?", "")
                .replaceAll("(?s)<pre>.*?</pre>|\\{@snippet.*?\n\\}", "")
                .replaceAll("\\{@\\w+\\s+([^{}]*)\\}", "$1")
                .replaceAll("</?(p|li|ul|ol|td|th|tr|table|caption|dl|dt|dd|h\\d)\\b[^>]*>", "\n\n")
                .replaceAll("<[^>]+>", "");
        return Stream.of(plain.split("\n\\s*\n|\n(?=@)"))
                .map(paragraph -> paragraph.replaceAll("\\s+", " ").strip())
                .map(paragraph -> paragraph.replaceFirst("^@(param \\S+|return|throws \\S+)\\s*", ""))
                .flatMap(paragraph -> Stream.of(paragraph.split("(?<=[.!?])\\s+(?=[A-Z])")))
                .filter(sentence -> !sentence.isEmpty())
                .map(sentence -> Character.toUpperCase(sentence.charAt(0)) + sentence.substring(1));
    }
}

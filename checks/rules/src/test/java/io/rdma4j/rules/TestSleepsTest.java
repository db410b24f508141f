package io.rdma4j.rules;

import static org.assertj.core.api.Assertions.assertThat;

import io.rdma4j.fixture.Checkout;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Checks that tests do not sleep and hope that something has happened meanwhile: a machine under load is slower than any such
 * time, and an idle one is kept waiting.
 */
class TestSleepsTest {
    private static final String TESTS = Path.of("src", "test").toString();

    private static final Pattern SLEEP = Pattern.compile("\\b(Thread|TimeUnit\\.\\w+)\\.sleep\\(");

    private static final Pattern LOOP = Pattern.compile("(while|for|do)\\b.*");

    /** The line before the body of a method or of a lambda. A loop around it does not check what the body waits for. */
    private static final Pattern BODY =
            Pattern.compile("(?!case |default ).*-> \\{|(public|protected|private|static|final|void)\\b.*");

    private static final String REMEDY = "wait with io.rdma4j.fixture.BlockedThread until a thread blocks, or check a"
            + " condition in a loop with a deadline; if the test needs the time itself, say why in a comment on the line";

    @Test
    void testsSleepOnlyInLoopsOrForAReason() {
        assertThat(Checkout.sources().stream()
                        .filter(source -> source.toString().contains(TESTS))
                        .filter(source -> !source.endsWith("TestSleepsTest.java"))
                        .flatMap(TestSleepsTest::locations))
                .as(REMEDY)
                .isEmpty();
    }

    private static Stream<String> locations(Path source) {
        return blindSleeps(Checkout.read(source)).stream().map(line -> Checkout.ROOT.relativize(source) + ":" + line);
    }

    /** Returns the numbers of the lines that sleep although no loop surrounds them and they have no comment. */
    private static List<Integer> blindSleeps(String text) {
        List<String> lines = text.lines().toList();
        List<Integer> found = new ArrayList<>();
        for (int i = 0; i < lines.size(); i++) {
            String line = lines.get(i);
            if (SLEEP.matcher(line).find() && !line.contains("//") && !isInLoop(lines.subList(0, i + 1))) {
                found.add(i + 1);
            }
        }
        return found;
    }

    /** Returns whether a loop of the same method surrounds the last line. The sources are formatted, so indentation tells. */
    private static boolean isInLoop(List<String> lines) {
        int indentation = indentation(lines.getLast());
        for (String line : lines.reversed()) {
            if (line.isBlank() || indentation(line) >= indentation) {
                continue;
            }
            indentation = indentation(line);
            if (LOOP.matcher(line.strip()).matches()) {
                return true;
            }
            if (BODY.matcher(line.strip()).matches()) {
                return false;
            }
        }
        return false;
    }

    private static int indentation(String line) {
        return line.length() - line.stripLeading().length();
    }

    @Test
    void sleepOutsideALoopIsFound() {
        assertThat(blindSleeps("""
                    void test() {
                        for (int i = 0; i < 3; i++) {
                            act();
                        }

                        Thread.sleep(5);
                        TimeUnit.MILLISECONDS.sleep(5);
                    }
                """)).containsExactly(6, 7);
    }

    @Test
    void loopAroundALambdaOrAMethodDoesNotCount() {
        assertThat(blindSleeps("""
                    void test() {
                        for (int i = 0; i < 3; i++) {
                            start(() -> {
                                Thread.sleep(5);
                            });
                            start(new Runnable() {
                                @Override
                                public void run() {
                                    Thread.sleep(5);
                                }
                            });
                        }
                    }
                """)).containsExactly(4, 9);
    }

    @ParameterizedTest
    @ValueSource(strings = {"while (!isDone()) {", "for (int i = 0; i < 9 && !isDone(); i++) {", "do {"})
    void sleepInALoopIsAllowed(String loop) {
        assertThat(blindSleeps("""
                    void test() {
                        LOOP
                            try {
                                Thread.sleep(5);
                            } catch (InterruptedException e) {
                                return;
                            }
                            switch (speed()) {
                                case SLOW -> {
                                    Thread.sleep(50);
                                }
                            }
                        }
                    }
                """.replace("LOOP", loop))).isEmpty();
    }

    @Test
    void sleepWithAReasonIsAllowed() {
        assertThat(blindSleeps("""
                    void test() {
                        Thread.sleep(700); // longer than all retries
                    }
                """)).isEmpty();
    }
}

package io.rdma4j.tools;

import static org.assertj.core.api.Assertions.assertThat;

import io.rdma4j.tools.cmtime.Cmtime;
import io.rdma4j.tools.devices.IbvDevinfo;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/**
 * The C tools never call {@code setlocale}, so their output is the same in every locale. The same applies to these
 * tools.
 */
class LocaleTest {
    private static final Pattern WITHOUT_LOCALE =
            Pattern.compile("\\.formatted\\(|String\\.format\\((?!\\s*Locale\\.)|\\.printf\\((?!\\s*Locale\\.)"
                    + "|\\.to(Upper|Lower)Case\\(\\)");

    private final Locale before = Locale.getDefault();

    @AfterEach
    void restore() {
        Locale.setDefault(before);
    }

    @Test
    void everyFormatOfTheToolsSpecifiesItsLocale() throws IOException {
        List<String> found = new ArrayList<>();
        try (Stream<Path> files = Files.walk(Path.of("src", "main", "java"))) {
            for (Path file :
                    files.filter(each -> each.toString().endsWith(".java")).toList()) {
                String text = Files.readString(file);
                WITHOUT_LOCALE
                        .matcher(text)
                        .results()
                        .map(match -> file.getFileName() + ":"
                                + (1 + text.substring(0, match.start()).lines().count()) + " " + match.group())
                        .forEach(found::add);
            }
        }
        assertThat(found).isEmpty();
    }

    private static void requireAscii(ToolRun run) throws InterruptedException {
        assertThat(run.status()).as(run.err()).isZero();
        assertThat(run.out() + run.err()).matches("[\\x00-\\x7f]+");
    }

    /** Arabic (Egypt) has digits other than 0 to 9, which {@code %d} uses. */
    @Test
    void figuresAreTheSameInEveryLocale() throws InterruptedException {
        Locale.setDefault(Locale.forLanguageTag("ar-EG-u-nu-arab"));
        requireAscii(ToolRun.of(new IbvDevinfo(), "-v"));
        String words = "-c 1 -b ADDRESS -C ADDRESS ".replace("ADDRESS", ToolTestSupport.loopback());
        ToolRun server = ToolRun.start(new Cmtime(), words + "-q 4711 -L").awaitText("OOB root");
        requireAscii(ToolRun.of(new Cmtime(), words + "-q 4712"));
        requireAscii(server);
    }
}

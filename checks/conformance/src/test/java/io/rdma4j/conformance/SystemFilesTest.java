package io.rdma4j.conformance;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** Checks that files of {@code /proc} and {@code /sys} are read by methods that work there; {@code SystemFile} explains it. */
class SystemFilesTest {
    private static final Path ROOT = Path.of("").toAbsolutePath().getParent();

    /** The modules of the library and the tools. */
    private static final List<String> MODULES =
            List.of("link", "verbs", "cm", "sharing", "soft", "hardware", "exec", "sockets", "testkit", "tools");

    private static final Pattern SYSTEM_PATH = Pattern.compile("\"/(proc|sys)[/\"]");

    /** Methods that ask for the size of a file first, which is 0 there. */
    private static final Pattern BY_SIZE = Pattern.compile(
            "\\bFiles\\.(readString|readAllBytes|size|copy|mismatch)\\(|\\.(transferTo|map)\\(FileChannel");

    @Test
    void noClassReadsFilesOfTheKernelBySize() {
        assertThat(MODULES.stream()
                        .flatMap(SystemFilesTest::sources)
                        .filter(SystemFilesTest::readsBySize)
                        .map(source -> ROOT.relativize(source).toString()))
                .isEmpty();
    }

    private static Stream<Path> sources(String module) {
        try (Stream<Path> files = Files.walk(ROOT.resolve(module).resolve("src/main"))) {
            return files.filter(file -> file.toString().endsWith(".java")).toList().stream();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static boolean readsBySize(Path source) {
        try {
            String text = Files.readString(source);
            return SYSTEM_PATH.matcher(text).find() && BY_SIZE.matcher(text).find();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}

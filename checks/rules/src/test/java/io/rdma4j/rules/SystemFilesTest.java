package io.rdma4j.rules;

import static org.assertj.core.api.Assertions.assertThat;

import io.rdma4j.fixture.Checkout;
import java.nio.file.Path;
import java.util.List;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;

/** Checks that files of {@code /proc} and {@code /sys} are read by methods that work there; {@code SystemFile} explains it. */
class SystemFilesTest {
    /** The modules of the library and the tools. */
    private static final List<String> MODULES =
            List.of("link", "verbs", "cm", "sharing", "soft", "hardware", "exec", "sockets", "testkit", "tools");

    private static final Pattern SYSTEM_PATH = Pattern.compile("\"/(proc|sys)[/\"]");

    /** Methods that first query the size of a file, which is 0 there. */
    private static final Pattern BY_SIZE = Pattern.compile(
            "\\bFiles\\.(readString|readAllBytes|size|copy|mismatch)\\(|\\.(transferTo|map)\\(FileChannel");

    @Test
    void noClassReadsFilesOfTheKernelBySize() {
        assertThat(MODULES.stream()
                        .map(module -> Checkout.module(module).resolve("src/main"))
                        .flatMap(folder -> Checkout.javaFiles(folder).stream())
                        .filter(SystemFilesTest::readsBySize)
                        .map(source -> Checkout.ROOT.relativize(source).toString()))
                .isEmpty();
    }

    private static boolean readsBySize(Path source) {
        String text = Checkout.read(source);
        return SYSTEM_PATH.matcher(text).find() && BY_SIZE.matcher(text).find();
    }
}

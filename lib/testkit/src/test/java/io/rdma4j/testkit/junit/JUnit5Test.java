package io.rdma4j.testkit.junit;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.File;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledIf;

/** The compiled tests of the extension pass with JUnit 5.14, in a process with only that version on its class path. */
@EnabledIf(value = "isBuiltByMaven", disabledReason = "Maven copies JUnit 5.14 to target/junit-5")
class JUnit5Test {
    private static final Path JUNIT = Path.of("target/junit-5");

    static boolean isBuiltByMaven() {
        return Files.isDirectory(JUNIT);
    }

    @Test
    void theSameTestsPassWithJUnit5() throws IOException, InterruptedException {
        List<String> path = new ArrayList<>();
        try (Stream<Path> jars = Files.list(JUNIT)) {
            jars.forEach(jar -> path.add(jar.toString()));
        }
        assertThat(path).hasSize(2);
        classPath().filter(entry -> !isOfRunner(entry)).forEach(path::add);
        Process tests = new ProcessBuilder(
                        Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                        "-cp",
                        String.join(File.pathSeparator, path),
                        "org.junit.platform.console.ConsoleLauncher",
                        "execute",
                        "--disable-banner",
                        "--disable-ansi-colors",
                        "--details=summary",
                        "--select-class=" + RdmaFabricTest.class.getName(),
                        "--select-class=" + FabricOutcomesTest.class.getName())
                .redirectErrorStream(true)
                .start();
        tests.getOutputStream().close();
        String output = new String(tests.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        assertThat(tests.waitFor()).as(output).isZero();
        assertThat(output).contains(" 0 tests failed").doesNotContain(" 0 tests successful");
    }

    /** Returns whether a library belongs to the version of JUnit that runs this test. */
    private static boolean isOfRunner(String entry) {
        String name = Path.of(entry).getFileName().toString();
        return name.startsWith("junit-") || name.startsWith("surefire") || name.startsWith("opentest4j");
    }

    /** Returns the class path and the module path of this process, with the tests that surefire adds to the module. */
    private static Stream<String> classPath() {
        return Stream.of(
                        Path.of("target/test-classes").toString(),
                        System.getProperty("surefire.test.class.path", ""),
                        System.getProperty("jdk.module.path", ""),
                        System.getProperty("java.class.path"))
                .flatMap(paths -> Stream.of(paths.split(File.pathSeparator)))
                .filter(entry -> !entry.isEmpty())
                .distinct();
    }
}

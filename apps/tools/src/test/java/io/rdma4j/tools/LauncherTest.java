package io.rdma4j.tools;

import static org.assertj.core.api.Assertions.assertThat;

import io.rdma4j.fixture.Checkout;
import io.rdma4j.tools.command.ToolProcess;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.FileTime;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.DisabledOnOs;
import org.junit.jupiter.api.condition.OS;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Tests the paths of the launcher that need neither a build nor Java, and the paths that fail before they need one. */
@DisabledOnOs(OS.WINDOWS)
class LauncherTest {
    private static final Path CHECKOUT = Checkout.ROOT;

    @TempDir
    Path folder = Path.of("");

    /** The result of a run of the launcher. */
    private record Outcome(int status, String out, String err) {}

    private Outcome run(Path launcher, Map<String, String> environment, String... words)
            throws IOException, InterruptedException {
        return run(launcher.toString(), environment, words);
    }

    private Outcome run(String launcher, Map<String, String> environment, String... words)
            throws IOException, InterruptedException {
        List<String> command = new ArrayList<>(List.of("sh", launcher));
        command.addAll(List.of(words));
        ProcessBuilder builder = new ProcessBuilder(command).directory(folder.toFile());
        Path out = folder.resolve("out");
        Path err = folder.resolve("err");
        builder.redirectOutput(out.toFile()).redirectError(err.toFile());
        builder.environment().keySet().removeIf(name -> name.startsWith("RDMA4J_") || name.equals("JAVA_HOME"));
        builder.environment().putAll(environment);
        Process process = builder.start();
        assertThat(process.waitFor(60, TimeUnit.SECONDS)).isTrue();
        return new Outcome(
                process.exitValue(),
                Files.readString(out, StandardCharsets.UTF_8),
                Files.readString(err, StandardCharsets.UTF_8));
    }

    private Path fakeJdk(String name, String version) throws IOException {
        Path home = folder.resolve(name);
        Path programs = Files.createDirectories(home.resolve("bin"));
        for (String program : List.of("java", "javac")) {
            Path file = Files.writeString(programs.resolve(program), "#!/bin/sh\nexit 0\n");
            assertThat(file.toFile().setExecutable(true)).isTrue();
        }
        Files.writeString(home.resolve("release"), "IMPLEMENTOR=\"x\"\nJAVA_VERSION=\"" + version + "\"\n");
        return home;
    }

    @Test
    void versionNeedsNoJava() throws Exception {
        Outcome outcome = run(CHECKOUT.resolve("rdma4j"), Map.of("RDMA4J_JAVA_HOME", "/no/such"), "--version");
        assertThat(outcome.status()).isZero();
        assertThat(outcome.out()).matches("rdma4j \\d+\\.\\d+\\.\\d+(-SNAPSHOT)?\n");
        assertThat(outcome.err()).isEmpty();
    }

    @Test
    void helpNeedsNoJava() throws Exception {
        Outcome outcome = run(CHECKOUT.resolve("rdma4j"), Map.of("RDMA4J_JAVA_HOME", "/no/such"), "--help");
        assertThat(outcome.status()).isZero();
        assertThat(outcome.out()).startsWith("usage: rdma4j TOOL").contains("rping -c -a");
    }

    @Test
    void namedJdkThatIsTooOldIsReportedInOneLine() throws Exception {
        Path old = fakeJdk("old jdk", "17.0.15");
        Outcome outcome = run(CHECKOUT.resolve("rdma4j"), Map.of("RDMA4J_JAVA_HOME", old.toString()), "rping");
        assertThat(outcome.status()).isEqualTo(1);
        assertThat(outcome.err().lines()).hasSize(1);
        assertThat(outcome.err()).contains(old + " is Java 17", "JDK 25 or newer");
    }

    @Test
    void namedFolderWithoutJdkIsReportedInOneLine() throws Exception {
        Outcome outcome = run(CHECKOUT.resolve("rdma4j"), Map.of("RDMA4J_JAVA_HOME", "/no/such"), "rping");
        assertThat(outcome.status()).isEqualTo(1);
        assertThat(outcome.err().lines()).hasSize(1);
        assertThat(outcome.err()).contains("/no/such holds no JDK");
    }

    @Test
    void failureOfTheLauncherIsAlsoADocument() throws Exception {
        String folder = "/no/such \"folder\\\t";
        Outcome outcome = run(
                CHECKOUT.resolve("rdma4j"), Map.of("RDMA4J_JAVA_HOME", folder), "rping", "-a", "a\"b\\c\nd", "--json");
        assertThat(outcome.status()).isEqualTo(1);
        assertThat(outcome.err()).startsWith("rdma4j: RDMA4J_JAVA_HOME=" + folder + " holds no JDK");
        assertThat(outcome.out())
                .startsWith(
                        "{\n  \"tool\": \"rping\",\n  \"arguments\": [\"-a\", \"a\\\"b\\\\c\\u000ad\", \"--json\"],\n")
                .contains("  \"parameters\": {},\n  \"results\": {},\n  \"status\": 1,\n")
                .contains("  \"reason\": \"rdma4j: RDMA4J_JAVA_HOME=/no/such \\\"folder\\\\\\u0009 holds no JDK ")
                .endsWith("\"\n}\n");
    }

    @Test
    void wordAfterTwoDashesRequestsNoDocument() throws Exception {
        Outcome outcome =
                run(CHECKOUT.resolve("rdma4j"), Map.of("RDMA4J_JAVA_HOME", "/no/such"), "rping", "--", "--json");
        assertThat(outcome.out()).isEmpty();
        assertThat(outcome.status()).isEqualTo(1);
    }

    @Test
    void javaHomeIsUsedIfRecentEnough() throws Exception {
        Path recent = fakeJdk("young", "26");
        Outcome outcome = run(CHECKOUT.resolve("rdma4j"), Map.of("JAVA_HOME", recent.toString()), "--java-home");
        assertThat(outcome.out()).isEqualTo(recent + "\n");
    }

    @Test
    void javaHomeThatIsTooOldIsSkipped() throws Exception {
        Path old = fakeJdk("old", "21.0.1");
        Path recent = fakeJdk("home/.jdks/young", "25-ea");
        Outcome outcome = run(
                CHECKOUT.resolve("rdma4j"),
                Map.of(
                        "JAVA_HOME",
                        old.toString(),
                        "HOME",
                        folder.resolve("home").toString()),
                "--java-home");
        assertThat(outcome.status()).isZero();
        assertThat(outcome.out().strip()).isNotEqualTo(old.toString());
        assertThat(recent).exists();
    }

    @Test
    void linkNamedLikeAToolRunsThatTool() throws Exception {
        Path link = Files.createSymbolicLink(
                Files.createDirectories(folder.resolve("with space")).resolve("rping"), CHECKOUT.resolve("bin/rping"));
        Outcome outcome = run(link, Map.of("RDMA4J_JAVA_HOME", "/no/such"), "-s");
        assertThat(outcome.err()).contains("/no/such holds no JDK");
        Files.delete(link);
    }

    /** Creates a JDK whose java prints its locale and its arguments. */
    private Path printingJdk() throws IOException {
        Path home = fakeJdk("talking jdk", "25");
        program(home.resolve("bin/java"), "printf '%s\\n' \"LC_ALL=${LC_ALL-}\" \"$@\"");
        return home;
    }

    private static void program(Path file, String line) throws IOException {
        Files.writeString(file, "#!/bin/sh\n" + line + "\n");
        assertThat(file.toFile().setExecutable(true)).isTrue();
    }

    /** Creates a complete build with a modification time. */
    private Path build(String name, Instant time) throws IOException {
        Path build = Files.createDirectories(folder.resolve(name));
        Path complete = Files.createFile(
                Files.createDirectory(build.resolve("build-test-1")).resolve("complete"));
        Files.setLastModifiedTime(complete, FileTime.from(time));
        Files.writeString(build.resolve("current"), "build-test-1\n");
        return build;
    }

    private Map<String, String> environment(Path jdk, String build, String... more) {
        Map<String, String> environment = new HashMap<>();
        environment.put("RDMA4J_JAVA_HOME", jdk.toString());
        environment.put("RDMA4J_JAVA_OPTS", "-Xshare:auto"); // disables the cache
        environment.put("RDMA4J_BUILD_DIR", build);
        for (int i = 0; i < more.length; i += 2) {
            environment.put(more[i], more[i + 1]);
        }
        return environment;
    }

    @Test
    void cdpathIsIgnored() throws Exception {
        Files.createSymbolicLink(folder.resolve("checkout"), CHECKOUT);
        Outcome outcome = run("checkout/rdma4j", Map.of("CDPATH", "."), "--version");
        assertThat(outcome.out()).matches("rdma4j \\d+\\.\\d+\\.\\d+(-SNAPSHOT)?\n");
    }

    @Test
    void changedSourcesAreDetectedWithARelativeBuildFolder() throws Exception {
        build("the build", Instant.parse("2020-01-01T00:00:00Z"));
        Outcome outcome = run(CHECKOUT.resolve("rdma4j"), environment(printingJdk(), "the build"), "--module-path");
        assertThat(outcome.err()).contains("building again (changed: ");
        assertThat(outcome.out().strip())
                .startsWith(folder.toRealPath().resolve("the build") + "/build-")
                .doesNotEndWith("build-test-1");
    }

    @Test
    void colonInThePathOfTheBuildIsReportedInOneLine() throws Exception {
        build("a:b", Instant.now().plusSeconds(3600));
        Outcome outcome = run(CHECKOUT.resolve("rdma4j"), environment(printingJdk(), "a:b"), "rping");
        assertThat(outcome.status()).isEqualTo(1);
        assertThat(outcome.out()).isEmpty();
        assertThat(outcome.err().lines()).hasSize(1);
        assertThat(outcome.err()).contains("a:b", "colon");
    }

    @Test
    void colonInThePathOfTheCheckoutIsReportedInOneLine() throws Exception {
        Path checkout = Files.createDirectory(folder.resolve("check:out"));
        Path launcher = Files.copy(CHECKOUT.resolve("rdma4j"), checkout.resolve("rdma4j"));
        Path sourced = Path.of("apps", "tools", "launcher");
        Files.createDirectories(checkout.resolve(sourced));
        Files.copy(
                CHECKOUT.resolve(sourced).resolve("launch.sh"),
                checkout.resolve(sourced).resolve("launch.sh"));
        build("build", Instant.now().plusSeconds(3600));
        Outcome outcome = run(launcher, environment(printingJdk(), "build"), "rping");
        assertThat(outcome.status()).isEqualTo(1);
        assertThat(outcome.err().lines()).hasSize(1);
        assertThat(outcome.err()).contains("check:out", "colon");
    }

    /** The ps of busybox has no option -p. */
    @Test
    void lockOfALiveProcessIsRespectedWithoutPs() throws Exception {
        Path build = Files.createDirectory(folder.resolve("build"));
        Files.writeString(
                Files.createDirectory(build.resolve("lock")).resolve("pid"),
                ProcessHandle.current().pid() + "\n");
        Path programs = Files.createDirectory(folder.resolve("programs"));
        program(programs.resolve("ps"), "exit 1");
        // The fake sleep of the waiting launcher supplies the build of the other process.
        build("other", Instant.now().plusSeconds(3600));
        program(programs.resolve("sleep"), "cp -Rp '" + folder + "/other/.' '" + build + "'");
        Outcome outcome = run(
                CHECKOUT.resolve("rdma4j"),
                environment(printingJdk(), build.toString(), "PATH", programs + ":" + System.getenv("PATH")),
                "--module-path");
        assertThat(outcome.err()).contains("waiting for the build").doesNotContain("building");
        assertThat(outcome.out().strip()).endsWith("build-test-1");
        assertThat(build.resolve("lock")).exists();
    }

    @Test
    void lockOfADeadProcessIsReplaced() throws Exception {
        Process dead = new ProcessBuilder("true").start();
        assertThat(dead.waitFor()).isZero();
        Path build = Files.createDirectory(folder.resolve("build"));
        Files.writeString(Files.createDirectory(build.resolve("lock")).resolve("pid"), dead.pid() + "\n");
        Outcome outcome =
                run(CHECKOUT.resolve("rdma4j"), environment(printingJdk(), build.toString()), "--module-path");
        assertThat(outcome.err()).contains("building (first use");
        assertThat(build.resolve("lock")).doesNotExist();
    }

    /** Java encodes file names by the locale, and uses ASCII without one. */
    @ParameterizedTest
    @CsvSource({
        "C, , C.UTF-8",
        ", , C.UTF-8",
        "POSIX, , C.UTF-8",
        "no_NE.UTF-8, , C.UTF-8",
        "C.UTF-8, , ''",
        ", C, C.UTF-8"
    })
    void javaGetsALocaleThatEncodesEveryFileName(@Nullable String lang, @Nullable String all, String expected)
            throws Exception {
        build("build", Instant.now().plusSeconds(3600));
        Map<String, String> environment = environment(printingJdk(), "build");
        for (String name : List.of("LANG", "LC_ALL", "LC_CTYPE")) {
            environment.put(name, "");
        }
        environment.put("LANG", Objects.requireNonNullElse(lang, ""));
        environment.put("LC_ALL", Objects.requireNonNullElse(all, ""));
        assertThat(run(CHECKOUT.resolve("rdma4j"), environment, "rping").out().lines())
                .contains("LC_ALL=" + expected, "rping");
    }

    @Test
    void toolsAndTheirChildProcessesHaveTheSameJavaOptions() throws Exception {
        build("build", Instant.now().plusSeconds(3600));
        assertThat(run(CHECKOUT.resolve("rdma4j"), environment(printingJdk(), "build"), "rping")
                        .out()
                        .lines())
                .containsSubsequence(ToolProcess.JAVA_OPTIONS);
    }
}

package io.rdma4j.tools;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.DisabledOnOs;
import org.junit.jupiter.api.condition.OS;
import org.junit.jupiter.api.io.TempDir;

/** The launcher's ways that need neither a build nor Java, and those that end before both. */
@DisabledOnOs(OS.WINDOWS)
class LauncherTest {
    private static final Path CHECKOUT =
            Objects.requireNonNull(Path.of("").toAbsolutePath().getParent());

    @TempDir
    Path folder = Path.of("");

    /** What a run of the launcher said. */
    private record Outcome(int status, String out, String err) {}

    private Outcome run(Path launcher, Map<String, String> environment, String... words)
            throws IOException, InterruptedException {
        List<String> command = new ArrayList<>(List.of("sh", launcher.toString()));
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
    void namedJdkThatIsTooOldIsOneSentence() throws Exception {
        Path old = fakeJdk("old jdk", "17.0.15");
        Outcome outcome = run(CHECKOUT.resolve("rdma4j"), Map.of("RDMA4J_JAVA_HOME", old.toString()), "rping");
        assertThat(outcome.status()).isEqualTo(1);
        assertThat(outcome.err().lines()).hasSize(1);
        assertThat(outcome.err()).contains(old + " is Java 17", "JDK 25 or newer");
    }

    @Test
    void namedFolderWithoutJdkIsOneSentence() throws Exception {
        Outcome outcome = run(CHECKOUT.resolve("rdma4j"), Map.of("RDMA4J_JAVA_HOME", "/no/such"), "rping");
        assertThat(outcome.status()).isEqualTo(1);
        assertThat(outcome.err().lines()).hasSize(1);
        assertThat(outcome.err()).contains("/no/such holds no JDK");
    }

    @Test
    void javaHomeIsTakenIfItIsNewEnough() throws Exception {
        Path young = fakeJdk("young", "26");
        Outcome outcome = run(CHECKOUT.resolve("rdma4j"), Map.of("JAVA_HOME", young.toString()), "--java-home");
        assertThat(outcome.out()).isEqualTo(young + "\n");
    }

    @Test
    void javaHomeThatIsTooOldIsPassedOver() throws Exception {
        Path old = fakeJdk("old", "21.0.1");
        Path young = fakeJdk("home/.jdks/young", "25-ea");
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
        assertThat(young).exists();
    }

    @Test
    void calledByTheNameOfAToolItIsThatTool() throws Exception {
        Path link = Files.createSymbolicLink(
                Files.createDirectories(folder.resolve("with space")).resolve("rping"), CHECKOUT.resolve("bin/rping"));
        Outcome outcome = run(link, Map.of("RDMA4J_JAVA_HOME", "/no/such"), "-s");
        assertThat(outcome.err()).contains("/no/such holds no JDK");
        Files.delete(link);
    }
}

package io.rdma4j.tools;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.rdma4j.fixture.Checkout;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Tests the launcher of {@code rdma4j exec} with programs that every Linux has. {@code apps/exec/run} tests it with RDMA
 * programs.
 */
@EnabledOnOs(OS.LINUX)
class ExecTest {
    private static final Path CHECKOUT = Checkout.ROOT;
    private static final Path JAVA_HOME = Path.of(System.getProperty("java.home"));
    private static final int SECONDS = 60;

    /** The first run may build the tools and the library. */
    private static final int BUILD_SECONDS = 500;

    /** A program header of this type names the dynamic linker. */
    private static final int PT_INTERP = 3;

    private static final int ELF_HEADER_BYTES = 64;
    private static final int PROGRAM_HEADER_BYTES = 56;

    @TempDir
    Path folder = Path.of("");

    /** The result of a run of the launcher. */
    private record Outcome(int status, String out, String err) {}

    @BeforeAll
    static void compile() throws IOException, InterruptedException {
        assumeTrue(
                new ProcessBuilder("sh", "-c", "command -v cc && test -f /usr/include/stdio.h")
                                .start()
                                .waitFor()
                        == 0,
                "there is a C compiler");
        Process build = launcher(Map.of(), "--", "true").inheritIO().start();
        assertThat(build.waitFor(BUILD_SECONDS, TimeUnit.SECONDS)).isTrue();
        assertThat(build.exitValue()).isZero();
    }

    private static ProcessBuilder launcher(Map<String, String> environment, String... words) {
        List<String> command =
                new ArrayList<>(List.of("sh", CHECKOUT.resolve("rdma4j").toString(), "exec"));
        command.addAll(List.of(words));
        ProcessBuilder builder = new ProcessBuilder(command);
        builder.environment().keySet().removeIf(name -> name.startsWith("RDMA4J_") || name.startsWith("LD_"));
        builder.environment().put("RDMA4J_JAVA_HOME", JAVA_HOME.toString());
        builder.environment().putAll(environment);
        return builder;
    }

    private Outcome run(Map<String, String> environment, String... words) throws IOException, InterruptedException {
        Path out = folder.resolve("out");
        Path err = folder.resolve("err");
        Process process = launcher(environment, words)
                .directory(folder.toFile())
                .redirectOutput(out.toFile())
                .redirectError(err.toFile())
                .start();
        assertThat(process.waitFor(SECONDS, TimeUnit.SECONDS)).isTrue();
        return new Outcome(
                process.exitValue(),
                Files.readString(out, StandardCharsets.UTF_8),
                Files.readString(err, StandardCharsets.UTF_8));
    }

    @Test
    void programFindsTheLibraryAndJava() throws Exception {
        Outcome outcome = run(
                Map.of(),
                "--device",
                "soft",
                "--pcap=my file",
                "--trace",
                "--",
                "sh",
                "-c",
                "ls \"${LD_LIBRARY_PATH%%:*}/libibverbs.so.1\" \"${LD_LIBRARY_PATH%%:*}/libibverbs.so\""
                        + " \"$RDMA4J_EXEC_JVM\" && echo \"$LD_PRELOAD\" && echo \"$RDMA4J_EXEC_OPTIONS\"");
        assertThat(outcome.status()).as(outcome.err()).isZero();
        assertThat(outcome.out())
                .contains(JAVA_HOME.resolve("lib/server/libjvm.so").toString())
                .contains("-Drdma4j.device=soft\n", "-Drdma4j.pcap=" + folder + "/my file\n", "-Drdma4j.trace=true\n");
        assertThat(outcome.err()).isEmpty();
    }

    /** The launcher prepends to these variables and keeps their contents. */
    @Test
    void variablesOfTheUserAreKept() throws Exception {
        Outcome outcome = run(
                Map.of("LD_LIBRARY_PATH", "/some/folder", "LD_PRELOAD", "libdl.so.2"),
                "sh",
                "-c",
                "echo $LD_LIBRARY_PATH; echo $LD_PRELOAD");
        assertThat(outcome.out()).matches("/.*:/some/folder\n\\S*libibverbs.so.1:libdl.so.2\n");
    }

    @Test
    void programDeterminesTheStatusAndReceivesTheSignal() throws Exception {
        assertThat(run(Map.of(), "sh", "-c", "exit 7").status()).isEqualTo(7);
        Process process = launcher(Map.of(), "sh", "-c", "echo $$; exec sleep 100")
                .redirectError(ProcessBuilder.Redirect.INHERIT)
                .start();
        assertThat(process.inputReader().readLine()).isEqualTo(String.valueOf(process.pid()));
        process.destroy();
        assertThat(process.waitFor()).isEqualTo(128 + 15);
    }

    /** Like this project's tools with the same names. */
    @Test
    void programsOfPerftestWarmUpByDefault() throws Exception {
        Path perftest = executable("ib_send_lat", "#!/bin/sh\necho \"$RDMA4J_EXEC_OPTIONS\"\n".getBytes(UTF_8));
        Path other = executable("other", Files.readAllBytes(perftest));
        String property = "-Drdma4j.exec.warmUpMillis=3000\n";
        assertThat(run(Map.of(), perftest.toString()).out()).contains(property);
        assertThat(run(Map.of(), "--no-warm-up", perftest.toString()).out()).doesNotContain("warmUp");
        assertThat(run(Map.of(), other.toString()).out()).doesNotContain("warmUp");
        assertThat(run(Map.of(), "--warm-up", other.toString()).out()).contains(property);
    }

    @Test
    void printPrintsShellCommands() throws Exception {
        Outcome outcome = run(Map.of(), "--fault", "loss=1%", "--pcap", "it's", "--print");
        assertThat(outcome.status()).isZero();
        Path script = Files.writeString(folder.resolve("script"), outcome.out() + "echo \"$RDMA4J_EXEC_OPTIONS\"\n");
        assertThat(new ProcessBuilder("sh", script.toString())
                        .start()
                        .inputReader()
                        .lines())
                .contains("-Drdma4j.fault=loss=1%", "-Drdma4j.pcap=" + folder + "/it's");
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "|2|which program?",
                "--no-such-option|2|there is no option --no-such-option",
                "--pcap|2|option --pcap requires a value",
                "/no/such/program|127|there is no program /no/such/program",
                "no-such-program|127|there is no program no-such-program",
                "/etc/passwd|126|/etc/passwd is not executable"
            })
    void invalidCommandLineIsReportedInOneLine(String line) throws Exception {
        String[] parts = line.split("\\|", -1);
        Outcome outcome = parts[0].isEmpty() ? run(Map.of()) : run(Map.of(), parts[0]);
        assertThat(outcome.status()).isEqualTo(Integer.parseInt(parts[1]));
        assertThat(outcome.err()).startsWith("rdma4j exec: " + parts[2]).hasLineCount(1);
        assertThat(outcome.out()).isEmpty();
    }

    /**
     * Copies a program without the program header that names the dynamic linker. A static program has no such header.
     */
    private Path staticProgram() throws IOException {
        byte[] bytes = Files.readAllBytes(Path.of("/bin/true"));
        for (int at = ELF_HEADER_BYTES; ; at += PROGRAM_HEADER_BYTES) {
            if (bytes[at] == PT_INTERP) {
                bytes[at] = 0;
                break;
            }
        }
        return executable("static", bytes);
    }

    private Path executable(String name, byte[] bytes) throws IOException {
        Path file = Files.write(folder.resolve(name), bytes);
        return Files.setPosixFilePermissions(file, PosixFilePermissions.fromString("rwxr-xr-x"));
    }

    @Test
    void staticProgramIsRefused() throws Exception {
        Outcome outcome = run(Map.of(), staticProgram().toString());
        assertThat(outcome.status()).isEqualTo(126);
        assertThat(outcome.err()).contains("is linked statically").hasLineCount(1);
    }

    @Test
    void programForAnotherProcessorIsRefused() throws Exception {
        byte[] bytes = Files.readAllBytes(Path.of("/bin/true"));
        bytes[18] = 8; // MIPS
        Outcome outcome = run(Map.of(), executable("foreign", bytes).toString());
        assertThat(outcome.status()).isEqualTo(126);
        assertThat(outcome.err()).contains("is not a 64-bit program for").hasLineCount(1);
    }

    /** Linux ignores LD_PRELOAD for a program with the rights of another user. */
    @Test
    void setuidProgramIsRefused() throws Exception {
        Path program;
        if ("root".equals(System.getProperty("user.name"))) {
            program = executable("setuid", Files.readAllBytes(Path.of("/bin/true")));
            Files.setAttribute(program, "unix:uid", 65534);
            Files.setAttribute(program, "unix:mode", 0104755);
        } else {
            try (Stream<Path> programs =
                    Stream.of("/usr/bin/su", "/bin/su", "/usr/bin/passwd").map(Path::of)) {
                program = programs.filter(Files::isExecutable).findFirst().orElse(Path.of(""));
            }
            assumeTrue(Files.isExecutable(program), "there is a setuid program");
        }
        Outcome outcome = run(Map.of(), program.toString());
        assertThat(outcome.status()).isEqualTo(126);
        assertThat(outcome.err()).contains("setuid").hasLineCount(1);
    }

    @Test
    void helpDescribesEveryOption() throws Exception {
        Outcome outcome = run(Map.of(), "--help");
        assertThat(outcome.status()).isZero();
        assertThat(outcome.out())
                .startsWith("usage: rdma4j exec [OPTION...] [--] PROGRAM")
                .contains(Stream.of(
                                "--print",
                                "--device",
                                "--pcap",
                                "--fault",
                                "--trace",
                                "--no-shared-memory",
                                "--warm-up",
                                "--no-warm-up")
                        .toArray(String[]::new));
    }
}

package io.rdma4j.tools;

import static org.assertj.core.api.Assertions.assertThat;

import io.rdma4j.fixture.Checkout;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.spi.ToolProvider;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Tests {@code rdma4j run} with programs that are unaware of RDMA, over the loopback device. */
@EnabledOnOs(OS.LINUX)
class RunTest {
    private static final Path CHECKOUT = Checkout.ROOT;
    private static final Path JAVA_HOME = Path.of(System.getProperty("java.home"));
    private static final String JAVA = JAVA_HOME.resolve("bin/java").toString();
    private static final String PROGRAMS = "io.rdma4j.tools.programs";
    private static final int SECONDS = 120;

    /**
     * A program that opens sockets, which log nothing, installs a log manager, like the main method of an application
     * server, and prints the log manager in use. It is a string because the module of the tests does not read
     * java.logging.
     */
    private static final String SHOW_LOG_MANAGER = """
            package io.rdma4j.tools.programs;

            import java.net.ServerSocket;
            import java.nio.channels.ServerSocketChannel;
            import java.util.logging.LogManager;

            public final class ShowLogManager {
                public static final class Own extends LogManager {}

                public static void main(String[] arguments) throws Exception {
                    new ServerSocket().close();
                    ServerSocketChannel.open().close();
                    System.setProperty("java.util.logging.manager", Own.class.getName());
                    System.out.println(LogManager.getLogManager().getClass().getName());
                }
            }
            """;

    /** The first run may build the tools. */
    private static final int BUILD_SECONDS = 500;

    /** Contains program.jar and the folder classes, in which the programs are also a module. */
    @TempDir
    static Path programs = Path.of("");

    @TempDir
    Path folder = Path.of("");

    /** The result of a run of the launcher. */
    private record Outcome(int status, String out, String err) {}

    @BeforeAll
    static void compile() throws IOException, InterruptedException {
        Path sources = Path.of("src/test/java", PROGRAMS.split("\\."));
        Path module =
                Files.writeString(programs.resolve("module-info.java"), "module programs { requires java.logging; }");
        Path logging = Files.writeString(programs.resolve("ShowLogManager.java"), SHOW_LOG_MANAGER);
        Path classes = programs.resolve("classes");
        List<String> options =
                new ArrayList<>(List.of("-d", classes.toString(), "-proc:none", module.toString(), logging.toString()));
        try (Stream<Path> files = Files.list(sources)) {
            files.map(Path::toString).forEach(options::add);
        }
        call("javac", options);
        call(
                "jar",
                List.of(
                        "--create",
                        "--file",
                        programs.resolve("program.jar").toString(),
                        "--main-class",
                        PROGRAMS + ".ChannelEcho",
                        "-C",
                        classes.toString(),
                        "."));
        Process build = launcher(Map.of(), "run", "--print").inheritIO().start();
        assertThat(build.waitFor(BUILD_SECONDS, TimeUnit.SECONDS)).isTrue();
        assertThat(build.exitValue()).isZero();
    }

    private static void call(String tool, List<String> options) {
        assertThat(ToolProvider.findFirst(tool)
                        .orElseThrow()
                        .run(System.out, System.err, options.toArray(String[]::new)))
                .isZero();
    }

    private static ProcessBuilder launcher(Map<String, String> environment, String... words) {
        List<String> command =
                new ArrayList<>(List.of("sh", CHECKOUT.resolve("rdma4j").toString()));
        command.addAll(List.of(words));
        ProcessBuilder builder = new ProcessBuilder(command);
        builder.environment().keySet().removeIf(name -> name.startsWith("RDMA4J_") || name.equals("JDK_JAVA_OPTIONS"));
        builder.environment().put("RDMA4J_JAVA_HOME", JAVA_HOME.toString());
        builder.environment().put("JAVA_HOME", JAVA_HOME.toString());
        builder.environment().putAll(environment);
        return builder;
    }

    private Outcome run(Map<String, String> environment, String... words) throws IOException, InterruptedException {
        String[] all = Stream.concat(Stream.of("run"), Arrays.stream(words)).toArray(String[]::new);
        Path out = folder.resolve("out");
        Path err = folder.resolve("err");
        Process process = launcher(environment, all)
                .directory(programs.toFile())
                .redirectOutput(out.toFile())
                .redirectError(err.toFile())
                .start();
        assertThat(process.waitFor(SECONDS, TimeUnit.SECONDS)).isTrue();
        return new Outcome(
                process.exitValue(),
                Files.readString(out, StandardCharsets.UTF_8),
                Files.readString(err, StandardCharsets.UTF_8));
    }

    /** Returns the ways to start a program: the words before the program's arguments. */
    static Stream<List<String>> starts() {
        return Stream.of(
                List.of("-cp", "classes", PROGRAMS + ".ChannelEcho"),
                List.of("-cp", "classes", PROGRAMS + ".SocketEcho"),
                List.of("-cp", "classes", PROGRAMS + ".AsynchronousEcho"),
                List.of("-jar", "program.jar"),
                List.of("-p", "classes", "-m", "programs/" + PROGRAMS + ".ChannelEcho"));
    }

    @ParameterizedTest
    @MethodSource("starts")
    void programUsesNoTcpHoweverItIsStarted(List<String> start) throws Exception {
        List<String> words = new ArrayList<>(List.of("--rules=*=rdma", "--", JAVA));
        words.addAll(start);
        words.addAll(List.of("hello,", "two  blanks"));
        Outcome outcome = run(Map.of(), words.toArray(String[]::new));
        assertThat(outcome.out()).as(outcome.err()).isEqualTo("hello, two  blanks\nTCP sockets: 0\n");
        assertThat(outcome.status()).isZero();
        assertThat(outcome.err())
                .startsWith("NOTE: Picked up JDK_JAVA_OPTIONS:")
                .hasLineCount(1);
    }

    @ParameterizedTest
    @ValueSource(strings = {"ChannelEcho", "SocketEcho"})
    void rulesSelectTcp(String program) throws Exception {
        Outcome outcome =
                run(Map.of(), "--rules", "127.0.0.1=tcp,*=rdma", JAVA, "-cp", "classes", PROGRAMS + "." + program);
        assertThat(outcome.out()).as(outcome.err()).matches("\nTCP sockets: [1-3]\n");
    }

    /** A start script, as many servers have, and a Java virtual machine that another Java virtual machine starts. */
    @Test
    void processesOfTheCommandInheritTheOptions() throws Exception {
        Path script =
                Files.writeString(folder.resolve("start script"), "exec \"$JAVA_HOME/bin/java\" -cp classes \"$@\"\n");
        Outcome outcome = run(
                Map.of(),
                "--rules",
                "*=rdma",
                "sh",
                script.toString(),
                PROGRAMS + ".Child",
                PROGRAMS + ".ChannelEcho",
                "hello");
        assertThat(outcome.out()).as(outcome.err()).isEqualTo("hello\nTCP sockets: 0\n");
    }

    /** The command may itself use {@code rdma4j run}. The inner options take precedence. */
    @Test
    void runsCanBeNested() throws Exception {
        Outcome outcome = run(
                Map.of(),
                "--rules=*=tcp",
                "sh",
                CHECKOUT.resolve("rdma4j").toString(),
                "run",
                "--rules=*=rdma",
                JAVA,
                "-cp",
                "classes",
                PROGRAMS + ".SocketEcho");
        assertThat(outcome.out()).as(outcome.err()).isEqualTo("\nTCP sockets: 0\n");
    }

    /** Java initializes logging at its first use. Before that, a program may choose its log manager. */
    @Test
    void programInstallsItsLogManager() throws Exception {
        Outcome outcome = run(Map.of(), JAVA, "-cp", "classes", PROGRAMS + ".ShowLogManager");
        assertThat(outcome.out()).as(outcome.err()).isEqualTo(PROGRAMS + ".ShowLogManager$Own\n");
    }

    /** Returns the jar of {@code EarlyAgent}. */
    private Path earlyAgent() throws IOException {
        Path manifest = Files.writeString(folder.resolve("manifest"), "Premain-Class: " + PROGRAMS + ".EarlyAgent\n");
        Path jar = folder.resolve("early.jar");
        String classes = programs.resolve("classes").toString();
        call(
                "jar",
                List.of("--create", "--file", jar.toString(), "--manifest", manifest.toString(), "-C", classes, "."));
        return jar;
    }

    @Test
    void agentThatOpensASelectorEarlierDoesNotPutChannelsOnTcp() throws Exception {
        Outcome outcome = run(
                Map.of("JDK_JAVA_OPTIONS", "-javaagent:" + earlyAgent()),
                "--rules=*=rdma",
                JAVA,
                "-cp",
                "classes",
                PROGRAMS + ".ChannelEcho",
                "hello");
        assertThat(outcome.out()).as(outcome.err()).isEqualTo("hello\nTCP sockets: 0\n");
    }

    /** Without {@code rdma4j run}, the agent starts too late to set the channel provider. */
    @Test
    void agentAfterOneThatOpensASelectorIsRejectedWithOneMessage() throws Exception {
        String print = run(Map.of(), "--print").out();
        Matcher agent = Pattern.compile("-javaagent:\\S+").matcher(print);
        assertThat(agent.find()).as(print).isTrue();
        Process process = new ProcessBuilder(
                        JAVA,
                        "-javaagent:" + earlyAgent(),
                        agent.group(),
                        "-cp",
                        "classes",
                        PROGRAMS + ".ChannelEcho",
                        "hello")
                .directory(programs.toFile())
                .redirectErrorStream(true)
                .start();
        assertThat(process.inputReader().lines().collect(java.util.stream.Collectors.joining("\n")))
                .startsWith("rdma4j: another agent has opened a channel")
                .contains("Name this agent first")
                .hasLineCount(1);
        assertThat(process.waitFor()).isEqualTo(1);
    }

    @Test
    void optionsOfTheUserAreKept() throws Exception {
        Outcome outcome = run(
                Map.of("JDK_JAVA_OPTIONS", "-Dmy.property='a b'"),
                "--",
                JAVA,
                "-cp",
                "classes",
                PROGRAMS + ".ShowProperties",
                "my.property",
                "java.nio.channels.spi.SelectorProvider");
        assertThat(outcome.out()).as(outcome.err()).isEqualTo("a b\nio.rdma4j.sockets.RdmaSelectorProvider\n");
    }

    /** Options on the command line of java take precedence, and so do providers of the program. */
    @Test
    void programMayHaveItsOwnRulesAndProvider() throws Exception {
        Outcome outcome = run(
                Map.of(),
                "--rules",
                "*=either",
                JAVA,
                "-Drdma4j.sockets.rules=*=tcp",
                "-Djava.nio.channels.spi.SelectorProvider=sun.nio.ch.PollSelectorProvider",
                "-cp",
                "classes",
                PROGRAMS + ".ShowProperties",
                "rdma4j.sockets.rules",
                "java.nio.channels.spi.SelectorProvider");
        assertThat(outcome.out()).as(outcome.err()).isEqualTo("*=tcp\nsun.nio.ch.PollSelectorProvider\n");
    }

    @Test
    void commandDeterminesTheStatusAndReceivesTheSignal() throws Exception {
        assertThat(run(Map.of(), "sh", "-c", "exit 7").status()).isEqualTo(7);
        assertThat(run(Map.of(), "sh", "-c", "kill -TERM $$").status()).isEqualTo(143);
        Process process = launcher(Map.of(), "run", "sh", "-c", "echo $$; exec sleep 100")
                .redirectError(ProcessBuilder.Redirect.INHERIT)
                .start();
        assertThat(process.inputReader().readLine()).isEqualTo(String.valueOf(process.pid()));
        process.destroy();
        assertThat(process.waitFor()).isEqualTo(143);
    }

    @Test
    void printPrintsAShellCommand() throws Exception {
        Outcome outcome = run(
                Map.of("JDK_JAVA_OPTIONS", "-Da='b c'"),
                "--print",
                "--rules=*=either",
                "--device",
                "soft",
                "--pcap",
                "my file",
                "--trace");
        assertThat(outcome.out())
                .startsWith("export JDK_JAVA_OPTIONS='-javaagent:")
                .contains("rdma4j-agent.jar -Da='\\''b c'\\'' --add-modules=")
                .contains(" -Drdma4j.sockets.rules=*=either -Drdma4j.device=soft ")
                .endsWith(" \"-Drdma4j.pcap=" + programs + "/my file\" -Drdma4j.trace=true'\n");
        Path script = Files.writeString(
                folder.resolve("script"), outcome.out() + "printf '%s\\n' \"$JDK_JAVA_OPTIONS\" | wc -l\n");
        assertThat(new ProcessBuilder("sh", script.toString())
                        .start()
                        .inputReader()
                        .readLine())
                .contains("1");
    }

    @Test
    void everyJvmReadsTheToolOptions() throws Exception {
        assertThat(run(Map.of(), "--every-jvm", "--print").out()).startsWith("export JAVA_TOOL_OPTIONS='-javaagent:");
        Path server = JAVA_HOME.resolve("bin/jwebserver");
        assertThat(run(Map.of(), server.toString(), "--version").err()).startsWith("Picked up JAVA_TOOL_OPTIONS:");
    }

    @Test
    void malformedRuleEndsTheProgramWithAMessage() throws Exception {
        Outcome outcome = run(Map.of(), "--rules", "10.1.0.0=tpc", JAVA, "-cp", "classes", PROGRAMS + ".ChannelEcho");
        assertThat(outcome.status()).isEqualTo(1);
        assertThat(outcome.err().lines().skip(1))
                .singleElement()
                .asString()
                .startsWith("rdma4j: ")
                .contains("10.1.0.0=tpc");
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "|2|which command?",
                "--no-such-option|2|there is no option --no-such-option",
                "--rules|2|option --rules requires a value",
                "/no/such/command|127|there is no command /no/such/command"
            })
    void invalidCommandLineIsReportedInOneLine(String line) throws Exception {
        String[] parts = line.split("\\|", -1);
        Outcome outcome = parts[0].isEmpty() ? run(Map.of()) : run(Map.of(), parts[0]);
        assertThat(outcome.status()).isEqualTo(Integer.parseInt(parts[1]));
        assertThat(outcome.err()).startsWith("rdma4j run: " + parts[2]).hasLineCount(1);
        assertThat(outcome.out()).isEmpty();
    }

    /** Creates a java that is older than the required one. */
    private String oldJava() throws IOException {
        Path home = folder.resolve("old");
        Path java = Files.createDirectories(home.resolve("bin")).resolve("java");
        Files.writeString(java, "#!/bin/sh\nexit 3\n");
        assertThat(java.toFile().setExecutable(true)).isTrue();
        Files.writeString(home.resolve("release"), "JAVA_VERSION=\"1.8.0_402\"\n");
        return java.toString();
    }

    @Test
    void oldJavaIsRefused() throws Exception {
        String old = oldJava();
        Outcome outcome = run(Map.of(), old, "-version");
        assertThat(outcome.status()).isEqualTo(1);
        assertThat(outcome.err())
                .startsWith(
                        "rdma4j: " + old + " is Java 8, and RDMA needs Java 25 or newer: use another, such as " + JAVA)
                .hasLineCount(1);
    }

    /** A script may use another java than the java in JAVA_HOME. */
    @Test
    void oldJavaOfAScriptCausesANote() throws Exception {
        Path home = Path.of(oldJava()).resolve("../..").normalize();
        Outcome outcome = run(Map.of("JAVA_HOME", home.toString()), "sh", "-c", "$JAVA_HOME/bin/java");
        assertThat(outcome.status()).isEqualTo(3);
        assertThat(outcome.err())
                .startsWith("rdma4j: note: ")
                .contains("if sh uses it")
                .hasLineCount(1);
    }

    @Test
    void helpDescribesEveryOption() throws Exception {
        Outcome outcome = run(Map.of(), "--help");
        assertThat(outcome.status()).isZero();
        assertThat(outcome.out())
                .startsWith("usage: rdma4j run [OPTION...] [--] COMMAND")
                .contains("--rules", "--every-jvm", "--print", "--device", "--pcap", "--fault", "--trace");
    }
}

package io.rdma4j.tools;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.rdma4j.fixture.Checkout;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.attribute.FileTime;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.TimeUnit;
import java.util.spi.ToolProvider;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.DisabledOnOs;
import org.junit.jupiter.api.condition.OS;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Tests the launcher's ahead-of-time cache: it is used if possible, and never visible to the user.
 *
 * <p>The launcher creates one cache for all tests, next to the jars of the classes under test.
 */
@DisabledOnOs(OS.WINDOWS)
class StartCacheTest {
    private static final Path CHECKOUT = Checkout.ROOT;
    private static final Path JDK = Path.of(System.getProperty("java.home"));
    private static final List<String> MODULES = List.of(
            "wire",
            "transport",
            "link",
            "verbs",
            "cm",
            "sharing",
            "soft",
            "hardware",
            "sockets",
            "simulator",
            "exec",
            "tools");
    private static final Path UNSET = Path.of("/");

    @TempDir
    static Path folder = Path.of("");

    private static Path build = UNSET;
    private static Path modules = UNSET;
    private static Path cache = UNSET;
    private static Path pristine = UNSET;
    private static List<Outcome> firstStarts = List.of();
    private static Outcome expected = new Outcome(-1, "", "");

    /** The result of a start. */
    private record Outcome(int status, String out, String err) {}

    /** A running start, whose output goes to files. */
    private record Start(Process process, Path out, Path err) {
        Outcome end() throws IOException, InterruptedException {
            assertThat(process.waitFor(180, TimeUnit.SECONDS)).isTrue();
            return new Outcome(
                    process.exitValue(),
                    Files.readString(out, StandardCharsets.UTF_8),
                    Files.readString(err, StandardCharsets.UTF_8));
        }
    }

    /** Creates the cache by two concurrent starts that find none. */
    @BeforeAll
    static void makeCache() throws IOException, InterruptedException {
        build = Files.createDirectory(folder.resolve("the build"));
        modules = Files.createDirectory(build.resolve("build-test-1"));
        for (String module : MODULES) {
            pack(module);
        }
        Files.createFile(modules.resolve("complete"));
        Files.writeString(build.resolve("current"), "build-test-1\n");
        // This option is incompatible with a cache, so none is created.
        expected = start(JDK, "-Xshare:auto").end();
        assertThat(caches()).isEmpty();
        List<Start> both = List.of(start(JDK, ""), start(JDK, ""));
        firstStarts = new ArrayList<>();
        for (Start each : both) {
            firstStarts.add(each.end());
        }
        assertThat(caches()).hasSize(1);
        cache = caches().getFirst();
        pristine = Files.copy(cache, folder.resolve("pristine"));
    }

    private static void pack(String module) {
        Path classes = Checkout.module(module).resolve("target/classes");
        Path jar = modules.resolve("rdma4j-" + module + ".jar");
        int status = ToolProvider.findFirst("jar")
                .orElseThrow()
                .run(System.out, System.err, "-c", "-0", "-f", jar.toString(), "-C", classes.toString(), ".");
        assertThat(status).isZero();
    }

    private static List<Path> caches() throws IOException {
        try (Stream<Path> files = Files.walk(modules)) {
            return files.filter(file -> file.endsWith("tools.aot")).toList();
        }
    }

    @BeforeEach
    void restoreCache() throws IOException {
        Files.copy(pristine, cache, StandardCopyOption.REPLACE_EXISTING);
    }

    @AfterAll
    static void allowDeletion() throws IOException {
        Files.setPosixFilePermissions(modules, PosixFilePermissions.fromString("rwxr-xr-x"));
    }

    private static Start start(Path jdk, String javaOptions, String... prefix) throws IOException {
        List<String> command = new ArrayList<>(Arrays.asList(prefix));
        command.addAll(List.of("sh", CHECKOUT.resolve("rdma4j").toString(), "rping", "--help"));
        Path out = Files.createTempFile(folder, "out", "");
        Path err = Files.createTempFile(folder, "err", "");
        ProcessBuilder builder = new ProcessBuilder(command)
                .directory(folder.toFile())
                .redirectOutput(out.toFile())
                .redirectError(err.toFile());
        builder.environment().keySet().removeIf(name -> name.startsWith("RDMA4J_") || name.contains("JAVA_"));
        builder.environment().put("RDMA4J_JAVA_HOME", jdk.toString());
        builder.environment().put("RDMA4J_JAVA_OPTS", javaOptions);
        builder.environment().put("RDMA4J_BUILD_DIR", build.toString());
        return new Start(builder.start(), out, err);
    }

    /** Returns the file from which the virtual machine loaded the first class of the tools. */
    private static String originOfMain() throws IOException, InterruptedException {
        Path log = folder.resolve("classes.log");
        Files.deleteIfExists(log);
        // A relative path, because the path of the folder contains a space, at which the launcher splits its options.
        assertThat(start(JDK, "-Xlog:class+load:file=classes.log").end()).isEqualTo(expected);
        try (Stream<String> lines = Files.lines(log)) {
            return lines.filter(line -> line.contains(" " + Main.class.getName() + " "))
                    .findFirst()
                    .orElseThrow();
        }
    }

    @Test
    void concurrentStartsCreateOneCacheSilently() throws IOException {
        assertThat(expected.status()).isZero();
        assertThat(expected.out()).contains("rping -c");
        assertThat(firstStarts).containsOnly(expected);
        assertThat(pristine).isNotEmptyFile();
        assertThat(build.resolve("lock")).doesNotExist();
        assertThat(modules.resolve("start.new")).doesNotExist();
    }

    @Test
    void toolsStartFromTheCache() throws Exception {
        assertThat(originOfMain()).contains("shared objects file");
    }

    @ParameterizedTest
    @ValueSource(strings = {"empty", "truncated", "zeroes", "text", "folder", "missing"})
    void brokenCacheIsIgnoredSilently(String what) throws Exception {
        switch (what) {
            case "empty" -> Files.write(cache, new byte[0]);
            case "truncated" -> Files.write(cache, Arrays.copyOf(Files.readAllBytes(pristine), 5_000_000));
            case "zeroes" -> Files.write(cache, new byte[100_000]);
            case "text" -> Files.writeString(cache, "not a cache\n".repeat(1000));
            default -> {
                Files.delete(cache);
                if (what.equals("folder")) {
                    Files.createDirectory(cache);
                }
            }
        }
        try {
            assertThat(originOfMain()).contains("rdma4j-tools.jar");
        } finally {
            Files.deleteIfExists(cache);
        }
    }

    /** The launcher checks only for newer jars. Java itself detects the older ones. */
    @Test
    void cacheOfOtherJarsIsIgnoredSilently() throws Exception {
        Path jar = modules.resolve("rdma4j-wire.jar");
        FileTime time = Files.getLastModifiedTime(jar);
        Files.setLastModifiedTime(jar, FileTime.from(Instant.parse("2020-01-01T00:00:00Z")));
        try {
            assertThat(originOfMain()).contains("rdma4j-tools.jar");
        } finally {
            Files.setLastModifiedTime(jar, time);
        }
    }

    /** Creates a JDK that cannot create a cache and records each attempt. */
    private static Path jdkWithoutCache() throws IOException {
        Path home = folder.resolve("poor jdk");
        Path programs = Files.createDirectories(home.resolve("bin"));
        Path java = Files.writeString(programs.resolve("java"), """
            #!/bin/sh
            for word; do
                case $word in -XX:AOTMode=*) echo asked >>"${0%%/*}/asked"; exit 1 ;; esac
            done
            exec "%s/bin/java" "$@"
            """.formatted(JDK));
        Path javac = Files.writeString(programs.resolve("javac"), "#!/bin/sh\nexit 1\n");
        assertThat(java.toFile().setExecutable(true)).isTrue();
        assertThat(javac.toFile().setExecutable(true)).isTrue();
        Files.copy(JDK.resolve("release"), home.resolve("release"));
        return home;
    }

    @Test
    void cacheCreationIsTriedOncePerBuildOfTheJars() throws Exception {
        Path jdk = jdkWithoutCache();
        Path asked = jdk.resolve("bin/asked");
        for (int i = 0; i < 2; i++) {
            assertThat(start(jdk, "").end()).isEqualTo(expected);
            assertThat(asked).hasContent("asked");
        }
        Path jar = modules.resolve("rdma4j-wire.jar");
        FileTime time = Files.getLastModifiedTime(jar);
        // An hour ahead: a wrong clock must not cause an attempt at every start.
        Files.setLastModifiedTime(jar, FileTime.from(Instant.now().plusSeconds(3600)));
        try {
            for (int i = 0; i < 2; i++) {
                assertThat(start(jdk, "").end()).isEqualTo(expected);
                assertThat(asked).hasContent("asked\nasked");
            }
        } finally {
            Files.setLastModifiedTime(jar, time);
        }
    }

    @Test
    void unwritableCacheIsIgnoredSilently() throws Exception {
        String[] asOtherUser = {};
        if (System.getProperty("user.name", "").equals("root")) {
            // Root has every permission, so another user runs the launcher.
            asOtherUser = new String[] {"setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"};
            Files.setPosixFilePermissions(folder, PosixFilePermissions.fromString("rwxr-xr-x"));
            assumeTrue(canRead(asOtherUser), "another user cannot read the checkout");
        }
        Path away = folder.resolve("away");
        Path home = Objects.requireNonNull(cache.getParent());
        Files.move(home, away);
        Files.setPosixFilePermissions(modules, PosixFilePermissions.fromString("r-xr-xr-x"));
        try {
            assertThat(start(JDK, "", asOtherUser).end()).isEqualTo(expected);
            assertThat(home).doesNotExist();
        } finally {
            Files.setPosixFilePermissions(modules, PosixFilePermissions.fromString("rwxr-xr-x"));
            Files.move(away, home);
        }
    }

    private static boolean canRead(String... asOtherUser) throws InterruptedException {
        List<String> command = new ArrayList<>(Arrays.asList(asOtherUser));
        command.addAll(List.of("test", "-r", CHECKOUT.resolve("rdma4j").toString()));
        try {
            return new ProcessBuilder(command).start().waitFor() == 0;
        } catch (IOException noSuchProgram) {
            return false;
        }
    }
}

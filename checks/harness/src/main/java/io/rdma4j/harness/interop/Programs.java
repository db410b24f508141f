package io.rdma4j.harness.interop;

import io.rdma4j.harness.CaseFailure;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** The programs in {@code checks/interop/java}, which are compiled when a case first needs them. */
final class Programs {
    private final Setting setting;
    private final Path folder;
    private final Path classes;
    private final Set<String> compiled = new HashSet<>();
    private @Nullable Path javaHome;
    private @Nullable String modulePath;

    Programs(Setting setting, Path folder) {
        this.setting = setting;
        this.folder = folder;
        classes = folder.resolve("classes");
    }

    /** Returns a program of the JDK that runs this project. */
    String jdk(String program) throws IOException, InterruptedException {
        if (javaHome == null) {
            javaHome = setting.launcher().javaHome();
        }
        return javaHome.resolve("bin").resolve(program).toString();
    }

    String modulePath() throws IOException, InterruptedException {
        if (modulePath == null) {
            modulePath = setting.launcher().modulePath();
        }
        return modulePath;
    }

    /** Compiles a program, unless that was done, and returns its class path. */
    String compile(String name) throws CaseFailure, IOException, InterruptedException {
        if (compiled.contains(name)) {
            return classes.toString();
        }
        Path source = setting.home().resolve("checks/interop/java").resolve(name + ".java");
        List<String> words = new ArrayList<>(List.of(jdk("javac"), "-Xlint:all", "-Werror", "-d", classes.toString()));
        words.addAll(List.of("--module-path", modulePath(), "--add-modules", "io.rdma4j.cm", source.toString()));
        Path log = folder.resolve(name + ".javac");
        Process javac = new ProcessBuilder(words)
                .redirectErrorStream(true)
                .redirectOutput(log.toFile())
                .start();
        if (javac.waitFor() != 0) {
            throw new CaseFailure("javac cannot compile " + source + ": see " + log);
        }
        compiled.add(name);
        return classes.toString();
    }

    /** Returns the words that run a program, without native access of the providers but with that of the link. */
    List<String> words(String name, String... arguments) throws CaseFailure, IOException, InterruptedException {
        List<String> words = new ArrayList<>(List.of(jdk("java"), "-XX:+UseSerialGC", "-XX:-UsePerfData"));
        words.addAll(List.of("-Djava.net.preferIPv6Addresses=system", "--enable-native-access=io.rdma4j.link"));
        words.addAll(List.of("--module-path", modulePath(), "--add-modules", "io.rdma4j.cm,io.rdma4j.soft"));
        words.addAll(List.of("-cp", compile(name), name));
        words.addAll(List.of(arguments));
        return words;
    }
}

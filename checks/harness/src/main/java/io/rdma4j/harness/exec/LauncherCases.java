package io.rdma4j.harness.exec;

import static io.rdma4j.harness.exec.ExecCases.FULL;
import static io.rdma4j.harness.exec.ExecCases.QUICK;

import io.rdma4j.harness.CaseFailure;
import io.rdma4j.harness.RunningProcess;
import io.rdma4j.harness.Stage;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.ArrayList;
import java.util.List;

/** Programs that {@code rdma4j exec} refuses, with one sentence, and what it needs of the machine. */
final class LauncherCases {
    private static final String DEVICES = """
            import java.lang.foreign.*;

            class Devices {
                public static void main(String[] arguments) throws Throwable {
                    var library = SymbolLookup.libraryLookup("libibverbs.so.1", Arena.global());
                    var list = Linker.nativeLinker().downcallHandle(
                            library.findOrThrow("ibv_get_device_list"),
                            FunctionDescriptor.of(ValueLayout.ADDRESS, ValueLayout.ADDRESS));
                    System.exit(((MemorySegment) list.invoke(MemorySegment.NULL)).address() == 0 ? 3 : 0);
                }
            }
            """;

    private LauncherCases() {}

    static void define(ExecCases cases) {
        cases.add("process/status", FULL, 20, stage -> refuse(stage, 7, "", "sh", "-c", "exit 7"));
        cases.add(
                "process/script", FULL, 20, stage -> ToolCases.prints(stage, "rdma4j_eth0", "sh", "-c", "ibv_devices"));
        cases.add(
                "missing/program",
                QUICK,
                10,
                stage -> refuse(stage, 127, "there is no program no-such-program", "no-such-program"));
        cases.add("missing/JDK", QUICK, 10, stage -> {
            startWithout(stage, "RDMA4J_JAVA_HOME=" + stage.file(""), 1, "holds no JDK");
        });
        cases.add("missing/JDK-too-old", QUICK, 10, LauncherCases::findOldJdk);
        cases.add("missing/libjvm", FULL, 10, LauncherCases::findNoLibjvm);
        cases.add("missing/compiler", FULL, 60, LauncherCases::findNoCompiler);
        cases.add("program/Java", QUICK, 20, LauncherCases::runJava);
        cases.add("program/static", QUICK, 10, LauncherCases::runStaticProgram);
        cases.add("program/setuid", QUICK, 10, LauncherCases::runSetuidProgram);
        cases.add("start", QUICK, 10, LauncherCases::measureStart);
    }

    private static void refuse(ExecStage stage, int status, String text, String... command)
            throws CaseFailure, IOException, InterruptedException {
        ExecStage.requireSentence(stage.exec("program", Side.SERVER, command), status, text);
    }

    /** Starts a program with a variable of the environment, which makes {@code rdma4j exec} fail. */
    private static void startWithout(ExecStage stage, String variable, int status, String text)
            throws CaseFailure, IOException, InterruptedException {
        List<String> words = new ArrayList<>(List.of("env", variable));
        words.addAll(stage.execWords(List.of(), List.of("ibv_devices")));
        ExecStage.requireSentence(stage.start("program", Side.SERVER, words), status, text);
    }

    private static void findOldJdk(ExecStage stage) throws CaseFailure, IOException, InterruptedException {
        Path old = stage.file("old");
        Files.createDirectories(old.resolve("bin"));
        Files.writeString(old.resolve("release"), "JAVA_VERSION=\"17.0.9\"\n");
        for (String program : List.of("java", "javac")) {
            Path file = Files.createFile(old.resolve("bin").resolve(program));
            Files.setPosixFilePermissions(file, PosixFilePermissions.fromString("rwxr-xr-x"));
        }
        startWithout(stage, "RDMA4J_JAVA_HOME=" + old, 1, "is Java 17");
    }

    /** The variables are set, as in a service file, but the JDK has been removed. */
    private static void findNoLibjvm(ExecStage stage) throws CaseFailure, IOException, InterruptedException {
        RunningProcess program = stage.start(
                "program",
                Side.SERVER,
                List.of(
                        "sh",
                        "-c",
                        "eval \"$(\"$1\" exec --print)\"; RDMA4J_EXEC_JVM=/no/libjvm.so exec ibv_devices",
                        "sh",
                        stage.launcher()));
        Stage.require(program.awaitEnd() != 0, "it ended with 0");
        Stage.require(
                program.err().lines().filter(line -> line.startsWith("rdma4j")).count() == 1,
                "rdma4j does not print exactly one sentence");
    }

    private static void findNoCompiler(ExecStage stage) throws CaseFailure, IOException, InterruptedException {
        String modules = ExecStage.requireRun("there is no build", List.of(stage.launcher(), "--module-path"))
                .strip();
        Path build = Files.createDirectory(stage.file("build"));
        ExecStage.requireRun("cannot copy the build", List.of("cp", "-a", modules, build.toString()));
        Files.writeString(build.resolve("current"), Path.of(modules).getFileName() + "\n");
        ExecStage.requireRun("cannot change the copy", List.of("chmod", "-R", "a+rwX", build.toString()));
        List<String> words = new ArrayList<>(List.of("env", "CC=no-such-compiler", "RDMA4J_BUILD_DIR=" + build));
        words.addAll(stage.execWords(List.of(), List.of("ibv_devices")));
        ExecStage.requireSentence(stage.start("program", Side.SERVER, words), 2, "there is no C compiler");
    }

    /** A process has only one virtual machine: a Java program that calls libibverbs gets a message and no devices. */
    private static void runJava(ExecStage stage) throws CaseFailure, IOException, InterruptedException {
        Files.writeString(stage.file("Devices.java"), DEVICES);
        String jdk = ExecStage.requireRun("there is no JDK", List.of(stage.launcher(), "--java-home"))
                .strip();
        refuse(
                stage,
                3,
                "a Java program cannot use RDMA through this library",
                jdk + "/bin/java",
                "--enable-native-access=ALL-UNNAMED",
                stage.file("Devices.java").toString());
    }

    private static void runStaticProgram(ExecStage stage) throws CaseFailure, IOException, InterruptedException {
        Files.writeString(stage.file("static.c"), "int main(void) { return 0; }\n");
        stage.compile("static", "-static", stage.file("static.c").toString());
        refuse(stage, 126, "is linked statically", stage.file("static").toString());
    }

    private static void runSetuidProgram(ExecStage stage) throws CaseFailure, IOException, InterruptedException {
        ExecStage.requireRun(
                "cannot copy ibv_devices",
                List.of(
                        "sh",
                        "-c",
                        "install -m 4755 \"$(command -v ibv_devices)\" \"$1\"",
                        "sh",
                        stage.file("setuid").toString()));
        refuse(
                stage,
                126,
                "runs with the rights of another user",
                stage.file("setuid").toString());
    }

    /** The time is only a remark: it depends on the load of the machine. */
    private static void measureStart(ExecStage stage) throws CaseFailure, IOException, InterruptedException {
        long best = Long.MAX_VALUE;
        for (int i = 0; i < 3; i++) {
            long begin = System.nanoTime();
            stage.exec("program", Side.SERVER, "ibv_devices").requireSuccess();
            best = Math.min(best, System.nanoTime() - begin);
        }
        stage.stage.remark("ibv_devices takes " + best / 1_000_000 + " ms");
    }
}

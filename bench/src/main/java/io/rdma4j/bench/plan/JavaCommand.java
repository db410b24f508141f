package io.rdma4j.bench.plan;

import io.rdma4j.bench.worker.Worker;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/** The command line of a worker: this Java, this class path. */
final class JavaCommand {
    private JavaCommand() {}

    static List<String> worker(List<String> options, List<String> words) {
        List<String> command = new ArrayList<>();
        command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
        // One collector for all that is measured, and one without threads of its own.
        command.add("-XX:+UseSerialGC");
        command.add("-Xms256m");
        // Whoever needs compiled code waits for it: a compiler that works beside two threads that poll, on two
        // processors, takes several times as long until all is warm. See WarmUp.
        command.add("-XX:-BackgroundCompilation");
        // As the launcher of the tools has it (decision 033).
        command.add("-XX:MaxInlineLevel=30");
        command.add("-XX:-UsePerfData");
        command.add("--enable-native-access=ALL-UNNAMED");
        command.addAll(options);
        command.addAll(List.of("-cp", System.getProperty("java.class.path", ".")));
        command.add(Worker.class.getName());
        command.addAll(words);
        return command;
    }
}

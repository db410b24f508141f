package io.rdma4j.bench.plan;

import io.rdma4j.bench.worker.Worker;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/** The command line of a worker: the same Java and class path as this process. */
final class JavaCommand {
    private JavaCommand() {}

    static List<String> worker(List<String> options, List<String> words) {
        List<String> command = new ArrayList<>();
        command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
        // The same collector for all measurements, without threads of its own.
        command.add("-XX:+UseSerialGC");
        command.add("-Xms256m");
        // A thread that triggers a compilation waits for it. A background compiler that competes with two polling
        // threads for two processors takes several times as long. See WarmUp.
        command.add("-XX:-BackgroundCompilation");
        // The same option as in the launcher of the tools (decision 033).
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

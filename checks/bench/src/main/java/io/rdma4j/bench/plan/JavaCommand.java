package io.rdma4j.bench.plan;

import io.rdma4j.bench.worker.Worker;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/** The command line of a worker: the same Java and class path as this process. */
enum JavaCommand {
    /**
     * Options for warm figures.
     *
     * <p>All measurements use the same collector, which has no threads. A thread that triggers a compilation waits for
     * it: a background compiler that competes with two polling threads for two processors takes several times as long
     * (see {@link io.rdma4j.bench.worker.WarmUp}). Calls are inlined deeply (decision 033).
     */
    MEASURING("-XX:+UseSerialGC -Xms256m -XX:-BackgroundCompilation -XX:MaxInlineLevel=30"),

    /** The options of the launcher of the tools, without its cache of loaded classes. */
    LAUNCHER("-XX:+UseSerialGC -XX:MaxInlineLevel=30 -XX:FreqInlineSize=70 -XX:TieredCompileTaskTimeout=100000"),

    /** No options that influence performance, as a program starts that uses this project as a library. */
    PLAIN("");

    private final String options;

    JavaCommand(String options) {
        this.options = options;
    }

    /**
     * Returns a command line.
     *
     * @param additional options in addition to the options of this kind
     * @param words arguments of the worker
     */
    List<String> worker(List<String> additional, List<String> words) {
        List<String> command = new ArrayList<>();
        command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
        if (!options.isEmpty()) {
            command.addAll(List.of(options.split(" ")));
        }
        command.add("-XX:-UsePerfData");
        command.add("--enable-native-access=ALL-UNNAMED");
        command.addAll(additional);
        command.addAll(List.of("-cp", System.getProperty("java.class.path", ".")));
        command.add(Worker.class.getName());
        command.addAll(words);
        return command;
    }
}

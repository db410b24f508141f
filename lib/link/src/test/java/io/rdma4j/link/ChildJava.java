package io.rdma4j.link;

import static org.assertj.core.api.Assertions.assertThat;

import io.rdma4j.link.system.LinkSets;
import java.io.File;
import java.net.URISyntaxException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;

/** Runs a main class of the tests in a separate Java virtual machine. */
public final class ChildJava {
    private ChildJava() {}

    /** Returns the lines that the process printed, including its error output. */
    public static List<String> run(List<String> wrapper, List<String> options, Class<?> main) throws Exception {
        List<String> command = new ArrayList<>(wrapper);
        command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
        command.addAll(options);
        command.addAll(List.of("-cp", classPath(), main.getName()));
        Process java = new ProcessBuilder(command).redirectErrorStream(true).start();
        String output = new String(java.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        assertThat(java.waitFor(30, TimeUnit.SECONDS)).isTrue();
        return output.lines().toList();
    }

    /** Returns the directories or archives of this module, its tests and the wire module. */
    public static String classPath() throws URISyntaxException {
        List<String> paths = new ArrayList<>();
        for (Class<?> type : List.of(LinkSets.class, io.rdma4j.wire.Frame.class, ChildJava.class)) {
            String path = Path.of(type.getProtectionDomain()
                            .getCodeSource()
                            .getLocation()
                            .toURI())
                    .toString();
            if (!paths.contains(path)) {
                paths.add(path);
            }
        }
        paths.add(Path.of(paths.getFirst()).resolveSibling("test-classes").toString());
        return String.join(File.pathSeparator, paths);
    }
}

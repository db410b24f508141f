package io.rdma4j.tools.programs;

import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/** A program that starts another Java virtual machine. */
public final class Child {
    private Child() {}

    /** Runs the class that the first argument names with the other arguments. */
    public static void main(String[] words) throws IOException, InterruptedException {
        List<String> command = new ArrayList<>(List.of(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "-cp",
                System.getProperty("java.class.path")));
        command.addAll(List.of(words));
        System.exit(new ProcessBuilder(command).inheritIO().start().waitFor());
    }
}

package io.rdma4j.programs;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/** The transport of a program's sockets. */
enum Transport {
    /** The kernel's TCP: the program as it is started everywhere. */
    TCP,

    /** RDMA sockets: the same command behind {@code rdma4j run}, without rules, so that TCP is permitted. */
    RDMA;

    /** Returns the command that starts Java with {@code words} as arguments. */
    List<String> command(List<String> words) {
        List<String> command = new ArrayList<>();
        if (this == RDMA) {
            command.addAll(List.of(home().resolve("rdma4j").toString(), "run", "--"));
        }
        command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
        command.addAll(words);
        return command;
    }

    private static Path home() {
        return Path.of(System.getProperty("rdma4j.home", ".")).toAbsolutePath();
    }
}

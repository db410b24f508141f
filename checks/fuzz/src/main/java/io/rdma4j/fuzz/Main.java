package io.rdma4j.fuzz;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Iterator;

/**
 * The commands that {@code checks/fuzz/run} needs in addition to Jazzer.
 *
 * <pre>
 * seeds TARGET FOLDER    writes a target's seeds to a folder
 * run TARGET FILE...     runs a target with inputs, such as earlier findings
 * list                   prints the names of the targets
 * </pre>
 */
public final class Main {
    private Main() {}

    /** Runs the command. */
    public static void main(String[] arguments) throws IOException {
        switch (arguments[0]) {
            case "list" -> {
                for (KnownTarget target : KnownTarget.values()) {
                    System.out.println(target);
                }
            }
            case "seeds" -> writeSeeds(KnownTarget.valueOf(arguments[1]).create(), Path.of(arguments[2]));
            case "run" -> {
                FuzzTarget target =
                        new BoundedMemory(KnownTarget.valueOf(arguments[1]).create());
                for (int i = 2; i < arguments.length; i++) {
                    target.run(Files.readAllBytes(Path.of(arguments[i])));
                    System.out.println(arguments[i] + ": nothing found");
                }
            }
            default -> throw new IllegalArgumentException("unknown: " + arguments[0]);
        }
    }

    private static void writeSeeds(FuzzTarget target, Path folder) throws IOException {
        Files.createDirectories(folder);
        int number = 0;
        for (Iterator<byte[]> seeds = target.seeds().iterator(); seeds.hasNext(); ) {
            Files.write(folder.resolve("seed-%04d".formatted(number++)), seeds.next());
        }
    }
}

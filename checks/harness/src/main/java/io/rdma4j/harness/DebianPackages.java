package io.rdma4j.harness;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Stream;

/** Installs the Debian packages of programs that a check needs. */
public final class DebianPackages {
    private static final int LIBRARY_DEPTH = 4;

    private final Set<String> missing = new LinkedHashSet<>();

    /** Creates an empty list. */
    public DebianPackages() {}

    /** Adds the packages of programs that are not installed; the map has the package of each program. */
    public DebianPackages ofPrograms(Map<String, String> packages) {
        packages.forEach((program, name) -> of(name, hasProgram(program)));
        return this;
    }

    /** Adds a package unless something of it is present. */
    public DebianPackages of(String name, boolean isPresent) {
        if (!isPresent) {
            missing.add(name);
        }
        return this;
    }

    /** Returns whether a program is in a folder of the variable PATH. */
    public static boolean hasProgram(String name) {
        for (String folder : System.getenv().getOrDefault("PATH", "").split(":", -1)) {
            if (Files.isExecutable(Path.of(folder, name))) {
                return true;
            }
        }
        return false;
    }

    /** Returns whether a file is in a folder below {@code /usr/lib}; its path ends with the given one. */
    public static boolean hasLibrary(String file) throws IOException {
        try (Stream<Path> files = Files.walk(Path.of("/usr/lib"), LIBRARY_DEPTH)) {
            return files.anyMatch(each -> each.endsWith(file));
        }
    }

    /** Installs the missing packages. */
    public void install() throws IOException, InterruptedException {
        if (missing.isEmpty()) {
            return;
        }
        if (!hasProgram("apt-get")) {
            throw new IOException("install the programs of the packages " + String.join(" ", missing));
        }
        System.out.println("installing " + String.join(" ", missing));
        String install =
                "apt-get -qq update && DEBIAN_FRONTEND=noninteractive apt-get -qq install -y --no-install-recommends "
                        + String.join(" ", missing);
        Process process = new ProcessBuilder(List.of("sh", "-c", install))
                .redirectOutput(ProcessBuilder.Redirect.DISCARD)
                .redirectError(ProcessBuilder.Redirect.INHERIT)
                .start();
        if (process.waitFor() != 0) {
            throw new IOException("apt-get could not install: " + String.join(" ", missing));
        }
    }
}

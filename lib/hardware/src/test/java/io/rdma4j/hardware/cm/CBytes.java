package io.rdma4j.hardware.cm;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.HexFormat;
import java.util.Map;
import java.util.Objects;

/** The bytes of structures in the layout of a C compiler: the output of {@code commands.c}. */
final class CBytes {
    private static final Path HEADER = Path.of("/usr/include/infiniband/verbs.h");

    private static final class Output {
        static final Map<String, byte[]> BY_NAME = run();
    }

    private CBytes() {}

    /** Returns the bytes of a structure by its name in the program. Skips the test if the header files are missing. */
    static byte[] of(String name) {
        assumeTrue(Files.exists(HEADER), "needs libibverbs-dev");
        return Objects.requireNonNull(Output.BY_NAME.get(name), name).clone();
    }

    private static Map<String, byte[]> run() {
        try (InputStream source = Objects.requireNonNull(CBytes.class.getResourceAsStream("commands.c"))) {
            Path folder = Files.createTempDirectory("rdma4j");
            Path file = folder.resolve("commands.c");
            Path program = folder.resolve("commands");
            Files.write(file, source.readAllBytes());
            output("cc", "-o", program.toString(), file.toString());
            Map<String, byte[]> found = new HashMap<>();
            for (String line : output(program.toString()).split("\n", -1)) {
                int blank = line.indexOf(' ');
                if (blank > 0) {
                    found.put(line.substring(0, blank), HexFormat.of().parseHex(line.substring(blank + 1)));
                }
            }
            Files.delete(file);
            Files.delete(program);
            Files.delete(folder);
            return found;
        } catch (IOException failed) {
            throw new UncheckedIOException(failed);
        }
    }

    private static String output(String... command) throws IOException {
        Process process = new ProcessBuilder(command).redirectErrorStream(true).start();
        String text = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        try {
            assertThat(process.waitFor()).as(text).isZero();
        } catch (InterruptedException interrupted) {
            throw new IllegalStateException(interrupted);
        }
        return text;
    }
}

package io.rdma4j.hardware.library;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.rdma4j.cm.abi.CmStructures;
import io.rdma4j.verbs.abi.CName;
import io.rdma4j.verbs.abi.CStruct;
import java.io.IOException;
import java.lang.reflect.Field;
import java.net.URI;
import java.net.URISyntaxException;
import java.nio.charset.StandardCharsets;
import java.nio.file.FileSystem;
import java.nio.file.FileSystems;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Compares the numbers of C structures with the header files of libibverbs and the kernel. */
class AbiTest {
    private static final Path HEADER = Path.of("/usr/include/infiniband/verbs.h");

    @TempDir
    Path folder;

    @Test
    void everyNumberEqualsTheHeaderFiles() throws Exception {
        assumeTrue(Files.exists(HEADER), "needs libibverbs-dev");
        Map<String, Integer> ours = new LinkedHashMap<>();
        List<String> lines = new ArrayList<>();
        for (Class<?> type : classes()) {
            CStruct struct = type.getAnnotation(CStruct.class);
            for (Field field : type.getDeclaredFields()) {
                String expression = expression(struct, field);
                if (expression != null) {
                    String name = type.getSimpleName() + "." + field.getName();
                    ours.put(name, field.getInt(null));
                    lines.add("    printf(\"" + name + " %ld\\n\", (long) (" + expression + "));");
                }
            }
        }
        assertThat(ours).hasSizeGreaterThan(300);
        Map<String, Integer> theirs = run(lines);
        assertThat(theirs.keySet()).isEqualTo(ours.keySet());
        assertThat(ours.keySet().stream().filter(name -> !Objects.equals(ours.get(name), theirs.get(name))))
                .as("numbers that differ from the header files")
                .isEmpty();
    }

    /** Returns the C expression for a number, or null if the field is not a number. */
    private static @Nullable String expression(@Nullable CStruct struct, Field field) {
        CName name = field.getAnnotation(CName.class);
        if (struct == null) {
            return name == null ? null : name.value();
        }
        String type = struct.value();
        if (name == null) {
            return field.getName().equals("BYTES") ? "sizeof(" + type + ")" : null;
        }
        String offset = "offsetof(" + type + ", " + name.value() + ")";
        return struct.origin().isEmpty()
                ? offset
                : "(long) " + offset + " - (long) offsetof(" + type + ", " + struct.origin() + ")";
    }

    private static List<Class<?>> classes() throws IOException, URISyntaxException, ClassNotFoundException {
        List<Class<?>> found = new ArrayList<>(classes(CStruct.class));
        found.addAll(classes(CmStructures.class));
        return found;
    }

    /** Returns the classes in a type's package from their folder or archive, without initialising them. */
    private static List<Class<?>> classes(Class<?> type)
            throws IOException, URISyntaxException, ClassNotFoundException {
        String file = type.getSimpleName() + ".class";
        URI at = Objects.requireNonNull(type.getResource(file)).toURI();
        if (!at.getScheme().equals("jar")) {
            return classes(type, Objects.requireNonNull(Path.of(at).getParent()));
        }
        try (FileSystem archive = FileSystems.newFileSystem(at, Map.of())) {
            return classes(type, archive.getPath(type.getPackageName().replace('.', '/')));
        }
    }

    private static List<Class<?>> classes(Class<?> type, Path folder) throws IOException, ClassNotFoundException {
        List<Class<?>> found = new ArrayList<>();
        try (Stream<Path> files = Files.list(folder)) {
            for (String name :
                    files.map(file -> file.getFileName().toString()).sorted().toList()) {
                if (name.endsWith(".class") && !name.startsWith("package-info")) {
                    String simpleName = name.substring(0, name.length() - ".class".length());
                    found.add(Class.forName(type.getPackageName() + "." + simpleName, false, type.getClassLoader()));
                }
            }
        }
        return found;
    }

    private Map<String, Integer> run(List<String> lines) throws IOException, InterruptedException {
        Path source = folder.resolve("probe.c");
        Path probe = folder.resolve("probe");
        Files.writeString(
                source,
                "#include <stddef.h>\n#include <stdio.h>\n#include <infiniband/verbs.h>\n"
                        + "#include <rdma/rdma_user_cm.h>\nint main(void) {\n"
                        + String.join("\n", lines) + "\n    return 0;\n}\n");
        output("cc", "-o", probe.toString(), source.toString());
        Map<String, Integer> theirs = new LinkedHashMap<>();
        for (String line : output(probe.toString()).split("\n", -1)) {
            if (!line.isEmpty()) {
                int blank = line.indexOf(' ');
                theirs.put(line.substring(0, blank), Integer.parseInt(line.substring(blank + 1)));
            }
        }
        return theirs;
    }

    private static String output(String... command) throws IOException, InterruptedException {
        Process process = new ProcessBuilder(command).redirectErrorStream(true).start();
        String text = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        assertThat(process.waitFor()).as(text).isZero();
        return text;
    }
}

package io.rdma4j.rules;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.rdma4j.cm.abi.CmNumbers;
import io.rdma4j.cm.abi.CmStructures;
import io.rdma4j.fixture.Checkout;
import io.rdma4j.verbs.abi.CName;
import io.rdma4j.verbs.abi.CStructure;
import io.rdma4j.verbs.abi.Flags;
import io.rdma4j.verbs.abi.QueuePairMask;
import io.rdma4j.verbs.abi.VerbsStructures;
import java.io.IOException;
import java.lang.reflect.Field;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Compares the layouts of C structures and the numbers in Java with header files, by a C program. */
class CLayoutsTest {
    /** The names that older header files lack. They are compared if the header files have them. */
    private static final List<String> NEWER = List.of(
            "active_speed_ex",
            "rdma_ucm_write_cm_event",
            "RDMA_USER_CM_CMD_RESOLVE_IB_SERVICE",
            "RDMA_USER_CM_CMD_WRITE_CM_EVENT",
            "RDMA_USER_CM_QUERY_IB_SERVICE");

    /** Both the C library and the kernel declare {@code struct sockaddr_in6}. */
    private static final String INSTALLED = """
            #include <infiniband/ib.h>
            #include <infiniband/sa.h>
            #include <infiniband/verbs.h>
            #include <netinet/in.h>
            #define _LINUX_IN6_H
            #define _UAPI_LINUX_IN6_H
            #include <rdma/rdma_user_cm.h>
            """;

    @TempDir
    Path folder;

    /** The expected values of C expressions. */
    private final Map<String, Integer> expected = new LinkedHashMap<>();

    @Test
    void layoutsAndNumbersEqualTheInstalledHeaderFiles() throws Exception {
        assumeTrue(CHeaders.areIn(CHeaders.INCLUDES), "libibverbs-dev and librdmacm-dev are not installed");
        String absent = absentOf(INSTALLED);
        for (CStructure layout : layouts(VerbsStructures.class, CmStructures.class)) {
            for (String type : layout.types()) {
                expect(type, layout, absent);
            }
        }
        assertThat(expected).hasSizeGreaterThan(600);
        for (Class<?> numbers : List.of(Flags.class, QueuePairMask.class, CmNumbers.class)) {
            expectNumbers(numbers, absent);
        }
        compare(INSTALLED);
    }

    @Test
    void layoutsEqualTheHeaderFileOfExec() throws Exception {
        assumeTrue(isCompilerInstalled(), "there is no C compiler");
        for (CStructure layout : layouts(VerbsStructures.class)) {
            expect(layout.types().getFirst(), layout, "");
        }
        assertThat(expected).hasSizeGreaterThan(300);
        compare("#include \"" + Checkout.ROOT.resolve("apps/exec/native/verbs_abi.h") + "\"\n");
    }

    private static List<CStructure> layouts(Class<?>... tables) throws ReflectiveOperationException {
        List<CStructure> layouts = new ArrayList<>();
        for (Class<?> structure : Stream.of(tables)
                .flatMap(table -> Arrays.stream(table.getDeclaredClasses()))
                .toList()) {
            layouts.add((CStructure) structure.getField("LAYOUT").get(null));
        }
        return layouts;
    }

    private void expect(String type, CStructure layout, String absent) {
        boolean isComplete = layout.knownBytes() > 0;
        for (CStructure.Field field : layout.fields()) {
            if (type.matches(absent) || field.name().matches(absent)) {
                isComplete = false;
                continue;
            }
            String origin =
                    layout.origin().isEmpty() ? "" : " - (long) offsetof(" + type + ", " + layout.origin() + ")";
            expected.put("(long) offsetof(" + type + ", " + field.name() + ")" + origin, field.offset());
            if (field.bytes() > 0) {
                expected.put("sizeof ((" + type + " *) 0)->" + field.name(), field.bytes());
            }
        }
        if (isComplete) {
            expected.put("sizeof (" + type + ")", layout.knownBytes());
        }
    }

    private void expectNumbers(Class<?> numbers, String absent) throws IllegalAccessException {
        for (Field field : numbers.getFields()) {
            String name = field.getAnnotation(CName.class).value();
            if (!name.matches(absent)) {
                Integer other = expected.put(name, field.getInt(null));
                assertThat(other).as(name).isIn(null, field.getInt(null));
            }
        }
    }

    /** Returns a pattern for the newer names that header files lack. */
    private String absentOf(String includes) throws IOException, InterruptedException {
        String text = output(
                "cc", "-E", "-I", CHeaders.INCLUDES.toString(), source(includes).toString());
        return String.join(
                "|",
                NEWER.stream()
                        .filter(name -> !Pattern.compile("\\b" + name + "\\b")
                                .matcher(text)
                                .find())
                        .map(name -> "(struct )?" + name)
                        .toList());
    }

    /** Compares the expected values with the values of a C program. */
    private void compare(String includes) throws IOException, InterruptedException {
        List<String> expressions = List.copyOf(expected.keySet());
        Path source = source(includes + "#include <stddef.h>\n#include <stdio.h>\nint main(void) {\n"
                + expressions.stream()
                        .map(each -> "printf(\"%ld\\n\", (long) (" + each + "));\n")
                        .collect(Collectors.joining())
                + "return 0;\n}\n");
        Path program = folder.resolve("program");
        String _ = output("cc", "-I", CHeaders.INCLUDES.toString(), "-o", program.toString(), source.toString());
        List<String> values = output(program.toString()).lines().toList();
        assertThat(values).hasSameSizeAs(expressions);
        List<String> differences = new ArrayList<>();
        for (int i = 0; i < values.size(); i++) {
            String expression = expressions.get(i);
            Integer ours = expected.get(expression);
            if (Integer.parseInt(values.get(i)) != ours) {
                differences.add(expression + " is " + values.get(i) + " in C and " + ours + " in Java");
            }
        }
        assertThat(differences).isEmpty();
    }

    private Path source(String text) throws IOException {
        return Files.writeString(folder.resolve("program.c"), text);
    }

    private static boolean isCompilerInstalled() throws InterruptedException {
        try {
            String _ = output("cc", "--version");
            return true;
        } catch (IOException missing) {
            return false;
        }
    }

    private static String output(String... command) throws IOException, InterruptedException {
        Process process = new ProcessBuilder(command).redirectErrorStream(true).start();
        String text = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        assertThat(process.waitFor()).as(text).isZero();
        return text;
    }
}
